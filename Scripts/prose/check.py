"""Checks one file after the other."""

import os
import re
import subprocess
from dataclasses import dataclass

from prose import files, terms
from prose.links import Links

SUFFIXES = (".swift", ".md", ".yaml", ".yml", ".py", ".sh", ".service", "Makefile", "Containerfile")
# The license, and the lists of what is reported.
SKIPPED = ("Scripts/prose/", "LICENSE")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
END = re.compile(r"(?<=[.!?:;])[)\"'”’*_]*\s+|\n(?=[-*|] )")


@dataclass
class Problem:
    path: str
    line: int
    what: str
    instead: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}: {self.instead}"


def tracked(root, paths):
    """The files in these files and folders that Git knows or would add, and that have prose."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    found = []
    for path in sorted(set(listed)):
        full = os.path.join(root, path)
        if not path or path.startswith(SKIPPED) or os.path.islink(full) or not os.path.isfile(full):
            continue
        if path.endswith(SUFFIXES) or (path.startswith(("Scripts/", ".ci/")) and "." not in path.rsplit("/", 1)[-1]):
            found.append(path)
    return found


class Checker:
    def __init__(self, root):
        self.root, self.links, self.known = root, Links(root), {}

    def check(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            source = file.read()
        return self.problems(path, source)

    def problems(self, path, source):
        found = []
        for text in files.texts(path, source):
            if text.kind == "code":
                found += self.names(path, text, swift=True)
            elif text.kind == "sql":
                found += self.names(path, text, swift=False)
            else:
                found += self.prose(path, text)
        if path.endswith(".md"):
            found += self.lines(path, source)
        return sorted(found, key=lambda problem: problem.line)

    def prose(self, path, text):
        found = []

        def report(offset, what, instead):
            found.append(Problem(path, text.line + text.text.count("\n", 0, offset), what, instead))

        plain = files.CODE.sub(lambda code: "`" * len(code.group()), text.text)
        plain = re.sub(r"\]\([^)]*\)", lambda link: "]" + "(" * (len(link.group()) - 1), plain)
        for match in terms.PROSE.finditer(plain):
            report(match.start(), f"“{match.group()}”", terms.TERMS[int(match.lastgroup[1:])][1])
        for match in terms.SPELLING.finditer(plain):
            report(match.start(), f"“{match.group()}”", "the American spelling")
        for offset, what, problem in self.links.problems(path, text.text):
            report(offset, what, problem)
        for offset, sentence in sentences(files.without_code(text.text)):
            count = len(re.findall(r"[\w“][\w’'.,/-]*", sentence))
            if count > terms.LONGEST_SENTENCE and not re.search(r"[\w+/]{60}", sentence):  # Base64 is no sentence
                report(offset, f"a sentence of {count} words", f"at most {terms.LONGEST_SENTENCE}; make it two or a list")
        return found

    def names(self, path, text, swift):
        found = []
        for match in IDENTIFIER.finditer(text.text):
            name = match.group()
            if name not in self.known:
                words = CAMEL.findall(name)
                self.known[name] = next((word for word in words if word.lower() in terms.NAMES), None)
            word = self.known[name]
            if word:
                line = text.line + text.text.count("\n", 0, match.start())
                found.append(Problem(path, line, f"`{name}`", f"an old name; now {terms.NAMES[word.lower()]}"))
        return found

    def lines(self, path, source):
        fence = False
        for number, line in enumerate(source.split("\n"), 1):
            if line.lstrip().startswith("```"):
                fence = not fence
            elif len(line) > terms.LONGEST_LINE and not fence and not line.lstrip().startswith("|"):
                yield Problem(path, number, f"{len(line)} columns", f"wrap at {terms.LONGEST_LINE}")


def sentences(text):
    """Sentences with their offsets. A colon or a semicolon ends a thought, but not a sentence. In a list of messages, each
    begins with its place (`policy.yaml:4:5:`)."""
    start = 0
    for match in re.finditer(r"(?<=[.!?])[)\"'”’*_]*\s+(?=[^a-z])|\n(?=[-*|] |\s*\S+:\d+:\d+: )|\Z", text):
        yield start, text[start:match.start()]
        start = match.end()
