#!/usr/bin/env python3
"""epidemic.py --start DAY --strength S [--r0 R] [--length DAYS]: an epidemic with one spell of restrictions.

A population of susceptible, infected and recovered people (the SIR model), one year, in days. From day START, for
LENGTH days, contacts are cut by the fraction STRENGTH. Prints the worst day and what the year adds up to.
Python's standard library only.
"""
import argparse

DAYS_ILL = 7.0
SEED = 1e-4  # part of the population that is ill on day 0
STEPS_A_DAY = 20


def rates(s, i, contact):
    """How fast susceptible and infected people change, each day."""
    infections = contact * s * i
    return -infections, infections - i / DAYS_ILL


def simulate(r0, start, length, strength, days=365):
    """Fourth-order Runge-Kutta. Returns (infected part of the population day by day, part ever infected)."""
    s, i = 1.0 - SEED, SEED
    h = 1.0 / STEPS_A_DAY
    course = []
    for day in range(days):
        course.append(i)
        restricted = start <= day < start + length
        contact = r0 / DAYS_ILL * (1.0 - strength if restricted else 1.0)
        for _ in range(STEPS_A_DAY):
            s1, i1 = rates(s, i, contact)
            s2, i2 = rates(s + h / 2 * s1, i + h / 2 * i1, contact)
            s3, i3 = rates(s + h / 2 * s2, i + h / 2 * i2, contact)
            s4, i4 = rates(s + h * s3, i + h * i3, contact)
            s += h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
            i += h / 6 * (i1 + 2 * i2 + 2 * i3 + i4)
    return course, 1.0 - s


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=float, required=True)
    parser.add_argument("--strength", type=float, required=True)
    parser.add_argument("--r0", type=float, default=2.5)
    parser.add_argument("--length", type=float, default=60)
    options = parser.parse_args()
    if not 0 <= options.strength <= 1:
        parser.error("--strength is a fraction between 0 and 1")
    course, infected = simulate(options.r0, options.start, options.length, options.strength)
    worst = max(range(len(course)), key=course.__getitem__)
    print(f"ill at the peak: {100 * course[worst]:.2f} %, on day {worst}")
    print(f"infected in the year: {100 * infected:.2f} %")


if __name__ == "__main__":
    main()
