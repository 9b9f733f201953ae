"""private_names.py: names that two sources of one folder keep in unnamed namespaces (or as `static`).

The sources of a folder are compiled together (GANTRY_TOGETHER), some 24 at a time and the tests apart. A private name that
two of them define may then be an overload that the other file's calls choose, without a word from the compiler; and which
sources meet changes with each new file. So each private name must be unique among a folder's sources, and among its tests.

This reads tokens, not C++: it knows the declarations of a namespace by how they begin and end.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = re.compile(r"""
    (?P<skip>\s+|//(?:\\\n|[^\n])*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>::|->|\[\[|\]\]|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
CLOSES = {"(": ")", "{": "}", "[": "]", "[[": "]]"}
TYPES = {"class", "struct", "union", "enum"}
WORDS_WITH_BRACKETS = {"alignas", "decltype", "noexcept", "requires", "explicit", "__attribute__"}


def tokens_of(text: str) -> list:
    """(token, line) of each token; a string or a number counts as one, called "literal"."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        if match.lastgroup != "skip":
            literal = match["text"] is not None or match["number"] is not None
            found.append(("literal" if literal else match[0], line))
        line += match[0].count("\n")
    return found


class Source:
    """Walks over the namespaces of a source; `private` has the line where each private name is first declared, and an
    alias's meaning."""

    def __init__(self, text: str):
        self.tokens = tokens_of(text)
        self.at = 0
        self.private = {}
        self.open_namespaces = 0

    def peek(self, ahead=0) -> str:
        place = self.at + ahead
        return self.tokens[place][0] if place < len(self.tokens) else ""

    def skip_brackets(self):
        """From an opening bracket to behind the one that closes it."""
        open_ones = []
        while self.at < len(self.tokens):
            token = self.peek()
            self.at += 1
            if token in CLOSES:
                open_ones.append(CLOSES[token])
            elif open_ones and token == "]]" and open_ones[-1] == "]":  # a[b[0]]
                del open_ones[-2:]
            elif open_ones and token == open_ones[-1]:
                open_ones.pop()
            if not open_ones:
                return

    def skip_angles(self):
        depth = 0
        while self.at < len(self.tokens):
            token = self.peek()
            if token in CLOSES:
                self.skip_brackets()
                continue
            self.at += 1
            depth += {"<": 1, ">": -1}.get(token, 0)
            if depth == 0:
                return

    def skip_to_end(self):
        """Behind the `;` of a declaration."""
        while self.at < len(self.tokens) and self.peek() != ";":
            if self.peek() in CLOSES:
                self.skip_brackets()
            else:
                self.at += 1
        self.at += 1

    def walk(self, private=False):
        """The declarations of a namespace, to behind its `}`."""
        while self.at < len(self.tokens):
            token = self.peek()
            if token == "}":
                self.at += 1
                self.open_namespaces -= 1
                return
            if token == "extern" and self.peek(1) == "literal" and self.peek(2) == "{":
                self.at += 3
                self.open_namespaces += 1
                self.walk(private)
            elif token == "namespace" or (token == "inline" and self.peek(1) == "namespace"):
                self.walk_namespace(private)
            else:
                self.declaration(private)

    def walk_namespace(self, private: bool):
        unnamed = self.peek(1) == "{"
        while self.peek() not in ("{", ";", ""):
            self.at += 1
        self.at += 1
        if self.tokens[self.at - 1][0] == "{":
            self.open_namespaces += 1
            self.walk(private or unnamed)

    def note(self, name: str, line: int, meaning: str = ""):
        self.private.setdefault(name, (line, meaning))

    def alias(self, line: int):
        """`using NAME = TYPE;`. Two that mean the same do no harm."""
        name, start = self.peek(1), self.at
        self.skip_to_end()
        self.note(name, line, " ".join(token for token, _ in self.tokens[start:self.at]))

    def declaration(self, private: bool):
        last, line, static, special = "", 0, False, False  # special: of what was declared elsewhere
        while self.at < len(self.tokens):
            token, here = self.tokens[self.at]
            if token in ("using", "typedef", "friend", "static_assert") and not last:
                if token == "using" and private and self.peek(2) == "=":
                    return self.alias(here)
                return self.skip_to_end()
            if token == "template":
                self.at += 1
                special = special or self.peek() != "<" or self.peek(1) == ">"
                if self.peek() == "<":
                    self.skip_angles()
            elif token in TYPES and self.peek(1) != "(":
                if self.type_declaration(private and not special):
                    return None
                last = "type"
            elif token in WORDS_WITH_BRACKETS:
                self.at += 1
                if self.peek() == "(":
                    self.skip_brackets()
            elif token == "[[":
                self.skip_brackets()
            elif token == "<":
                self.skip_angles()
            elif token == "operator":
                special, last = True, token
                self.at += 1
                while self.peek() not in ("(", ""):
                    self.at += 1
                if self.peek(1) == ")" and self.peek(2) == "(":  # operator()
                    self.at += 2
            elif token == "::":
                # Part of a type, unless the declared name follows; then it is a member's definition.
                self.at += 1
                last = "::"
            elif re.match(r"[A-Za-z_]", token):
                static = static or token == "static"
                special_name = last == "::"
                last, line = token, here
                self.at += 1
                if self.peek() in ("(", "{", "=", ";", "[", ",", ":"):
                    if not special and not special_name:
                        self.declared(last, line, private or static)
                    return self.rest_of_declaration()
            elif token == ";":
                self.at += 1
                return None
            elif token == "(" or token == "{":
                return self.rest_of_declaration()
            else:
                self.at += 1  # * & and the like
        return None

    def declared(self, name: str, line: int, private: bool):
        macro = self.peek() == "(" and name.isupper()
        if macro and name.startswith(("MATCHER", "ACTION")):  # gmock's: MATCHER_P(name, ...)
            name, macro = self.peek(1), False
        if self.peek() == "(" and self.peek(1) == "*":  # void (*name)(int)
            name = self.peek(2)
        if private and not macro:
            self.note(name, line)

    def rest_of_declaration(self):
        """From behind the declared name: to behind the body of a function, or the `;`."""
        initialised = self.peek() in ("=", "{", "[")
        members = False  # of a constructor: `: a{1}, b(2) {`
        while self.at < len(self.tokens):
            token = self.peek()
            if token == ";":
                self.at += 1
                return
            if token == "}":  # of the namespace: a macro without a semicolon
                return
            initialised = initialised or token == "="
            members = members or token == ":"
            if token in CLOSES:
                of_member = members and self.tokens[self.at - 1][0] not in (")", "}")
                self.skip_brackets()
                if token == "{" and not initialised and not of_member:
                    return
            else:
                self.at += 1

    def type_declaration(self, private: bool) -> bool:
        """A struct, class, union or enum that is declared here (True), or only named as part of a type."""
        start = self.at
        while self.peek() in TYPES:
            self.at += 1
        while self.peek() in ("[[", "alignas"):
            self.at += self.peek() == "alignas"
            self.skip_brackets()
        name, line = self.peek(), self.tokens[min(self.at, len(self.tokens) - 1)][1]
        self.at += name != "{"
        special = False
        while self.peek() not in ("{", ";", ":", ""):
            if self.peek() == "<":
                special = True  # a specialisation
                self.skip_angles()
            elif self.peek() == "::":
                special = True  # a member of another type
                self.at += 1
            elif self.peek() == "final" or special:
                self.at += 1
            else:  # `struct stat info;` and `struct stat f();`
                self.at = start + 2
                return False
        if private and not special and name != "{":
            self.note(name, line)
        self.skip_to_end()
        return True


def main() -> int:
    bad = 0
    for folder in sorted(path for path in (ROOT / "src").iterdir() if path.is_dir()):
        for tests in (False, True):
            places, meanings = collections.defaultdict(list), collections.defaultdict(set)
            for path in sorted(folder.rglob("*.cpp")):
                if path.stem.endswith("_test") == tests:
                    source = Source(path.read_text())
                    source.walk()
                    if source.open_namespaces != 0:  # at its end: something was taken for what it is not
                        sys.exit(f"{path.relative_to(ROOT)}: the brackets of its namespaces do not match")
                    for name, (line, meaning) in source.private.items():
                        places[name].append(f"{path.relative_to(ROOT)}:{line}")
                        meanings[name].add(meaning)
            for name in sorted(places):
                if len(places[name]) > 1 and ("" in meanings[name] or len(meanings[name]) > 1):
                    bad += 1
                    print(f"{name}: {', '.join(places[name])}")
    if bad:
        print("Each is private to more than one source of its folder; these are compiled together. Rename all but one.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
