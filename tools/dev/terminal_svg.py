#!/usr/bin/env python3
"""A real picture of the terminal: runs a command in tmux and draws what the screen shows as SVG.

    tools/dev/terminal_svg.py OUT.svg [--size 90x26] [--after SECONDS] -- COMMAND

Without --after the picture is taken when the command has ended.
"""
import argparse
import html
import os
import re
import subprocess
import sys
import time

COLOURS = ["#1d1f21", "#cc6666", "#8cb36b", "#d7a657", "#6f9fc8", "#b294bb", "#6fb3ad", "#c5c8c6"]
BRIGHT = ["#7f8489", "#e07f7f", "#a9cf85", "#f0c674", "#8fbce6", "#cdb0d8", "#8fd0ca", "#ffffff"]
FOREGROUND, BACKGROUND = "#d4d7d6", "#16181a"
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.43, 18, 16
PARTS = "▏▎▍▌▋▊▉"
# Characters of progress bars: which part of their cell they fill, from the left.
BLOCKS = {"█": (0, 1), "▕": (7 / 8, 1), **{part: (0, (n + 1) / 8) for n, part in enumerate(PARTS)}}


def tmux(*args):
    return subprocess.run(["tmux", "-L", f"picture-{os.getpid()}", *args], check=True, capture_output=True,
                          text=True).stdout


def take_screen(command, columns, rows, after):
    """The screen's lines with their escape sequences."""
    marker = "\x1e"
    shell = f"{command}; printf '{marker}'; sleep 600"
    tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "env", "TERM=tmux-256color",
         "sh", "-c", shell)
    try:
        tmux("set", "-g", "status", "off")
        tmux("resize-window", "-x", str(columns), "-y", str(rows))
        if after:
            time.sleep(after)
        else:
            for _ in range(1200):
                time.sleep(0.1)
                if "sleep 600" in subprocess.run(["ps", "--ppid", tmux("display", "-p", "#{pane_pid}").strip(), "-o",
                                                  "args="], capture_output=True, text=True).stdout:
                    break
            time.sleep(0.3)
        return tmux("capture-pane", "-p", "-e").rstrip("\n").split("\n")
    finally:
        tmux("kill-server")


def colour_of(code):
    if code < 8:
        return COLOURS[code]
    if code < 16:
        return BRIGHT[code - 8]
    if code < 232:
        code -= 16
        return "#" + "".join(f"{(0, 95, 135, 175, 215, 255)[x]:02x}" for x in (code // 36, code // 6 % 6, code % 6))
    return "#" + f"{8 + 10 * (code - 232):02x}" * 3


def apply(style, codes):
    codes = [int(c or 0) for c in codes.split(";")] if codes else [0]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style.clear()
        elif code == 1:
            style["bold"] = True
        elif code == 2:
            style["dim"] = True
        elif code in (22,):
            style.pop("bold", None)
            style.pop("dim", None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style["fill"] = COLOURS[code - 30] if code < 40 else BRIGHT[code - 90]
        elif code == 39:
            style.pop("fill", None)
        elif code == 38 and codes[:1] == [5]:
            style["fill"] = colour_of(codes[1])
            codes = codes[2:]


def look_of(style):
    look = f' fill="{style["fill"]}"' if "fill" in style else ""
    look += ' font-weight="bold"' if style.get("bold") else ""
    return look + (' opacity="0.6"' if style.get("dim") else "")


def draw_stretch(text, x, top, look):
    """Text without runs of spaces, at its own place, so that no browser's idea of spaces moves a letter."""
    if text[0] in BLOCKS:  # drawn: letters of a font have seams between them
        first, last = BLOCKS[text[0]][0], BLOCKS[text[-1]][1]
        left, right = x + first * CELL_WIDTH, x + (len(text) - 1 + last) * CELL_WIDTH
        return f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{LINE_HEIGHT}"{look}/>'
    return (f'<text x="{x:.1f}" y="{top + 0.75 * LINE_HEIGHT:.1f}" textLength="{len(text) * CELL_WIDTH:.1f}" '
            f'lengthAdjust="spacingAndGlyphs" style="white-space:pre"{look}>{html.escape(text)}</text>')


def draw(screen, columns):
    width, height = columns * CELL_WIDTH + 2 * MARGIN, len(screen) * LINE_HEIGHT + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">',
           f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
           f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="{FOREGROUND}">']
    style = {}
    for number, line in enumerate(screen):
        column = 0
        for escape, text in re.findall(r"(?:\x1b\[([0-9;]*)m)|([^\x1b]+)", line):
            if not text:
                apply(style, escape)
                continue
            for stretch in re.finditer(rf"▕|█*[{PARTS}]|█+|[^\s█▕{PARTS}]+(?: [^\s█▕{PARTS}]+)*", text):
                x = MARGIN + (column + stretch.start()) * CELL_WIDTH
                out.append(draw_stretch(stretch.group(), x, MARGIN + LINE_HEIGHT * number, look_of(style)))
            column += len(text)
    return "\n".join([*out, "</g>", "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--size", default="90x26")
    parser.add_argument("--after", type=float, default=0)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    columns, rows = map(int, args.size.split("x"))
    screen = take_screen(" ".join(args.command), columns, rows, args.after)
    while screen and not screen[-1].strip():
        screen.pop()
    with open(args.out, "w") as file:
        file.write(draw([line.replace("\x1e", "") for line in screen], columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
