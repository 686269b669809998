"""Checks one file after the other."""

import os
import re
import subprocess
from dataclasses import dataclass

from prose import files, terms
from prose.links import Links

SUFFIXES = (".swift", ".h", ".modulemap", ".md", ".yaml", ".yml", ".json", ".txt", ".csv", ".xcprivacy", ".svg", ".py",
            ".sh", ".service", ".gitignore", ".dockerignore", "Makefile", "Containerfile")
# The license, and the lists of what is reported.
SKIPPED = ("Scripts/prose/terms.py", "Scripts/prose/selftest.py", "Scripts/prose/exceptions", "LICENSE")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Problem:
    path: str
    line: int
    what: str
    instead: str

    def __str__(self):
        return f"{self.path}:{self.line}: {' '.join(self.what.split())}: {self.instead}"


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
        self.root, self.links = root, Links(root)

    def check(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            source = file.read()
        return self.problems(path, source)

    def problems(self, path, source):
        name = files.Text(1, path, "code")
        found = []
        for text in [name, *files.texts(path, source)]:
            def report(offset, what, instead):
                found.append(Problem(path, text.line + text.text.count("\n", 0, offset), what, instead))

            if text.kind in ("code", "sql"):
                self.names(text.text, 0, text.kind == "sql", report)
            elif text.kind == "span":
                self.span(text.text, 0, report)
                if path.endswith(".md"):
                    for problem in self.links.problems(path, text):
                        report(*problem)
            else:
                self.prose(path, text, report)
        if path.endswith(".md"):
            found += self.lines(path, source)
            found += [Problem(path, *problem) for problem in self.links.definitions(path, source)]
        return sorted(found, key=lambda problem: problem.line)

    def prose(self, path, text, report):
        plain = files.CODE.sub(lambda code: "`" * len(code.group()), text.text)
        plain = re.sub(r"\]\([^)]*\)", lambda link: "]" + "(" * (len(link.group()) - 1), plain)
        for match in terms.PROSE.finditer(plain):
            report(match.start(), f"“{match.group()}”", terms.TERMS[int(match.lastgroup[1:])][1])
        for match in terms.CAMEL.finditer(plain):
            instead = terms.spelling(match.group().lower())
            if instead:
                report(match.start(), f"“{match.group()}”", instead)
        for match in terms.ANYWHERE.finditer(plain):
            report(match.start(), match.group(), terms.PATHS[int(match.lastgroup[1:])][1])
        for match in files.CODE.finditer(text.text):
            self.span(match.group(), match.start(), report)
        for offset, what, problem in self.links.problems(path, text):
            report(offset, what, problem)
        if text.kind == "data":
            return
        for offset, sentence in sentences(files.without_code(text.text)):
            count = len(re.findall(r"[\w“][\w’'.,/-]*", sentence))
            if count > terms.LONGEST_SENTENCE and not re.search(r"[\w+/]{60}", sentence):  # Base64 is no sentence
                report(offset, f"a sentence of {count} words", f"at most {terms.LONGEST_SENTENCE}; make it two or a list")

    def span(self, code, start, report):
        """A code span, a fenced line, or a key: only names, commands and paths."""
        for match in terms.SPANS.finditer(code):
            if not terms.name(match.group()):
                report(start + match.start(), f"`{match.group()}`", terms.WORDS[int(match.lastgroup[1:])][1])
        for match in terms.ANYWHERE.finditer(code):
            report(start + match.start(), match.group(), terms.PATHS[int(match.lastgroup[1:])][1])
        self.names(code, start, False, report)

    def names(self, code, start, is_sql, report):
        for match in IDENTIFIER.finditer(code):
            instead = terms.name(match.group(), is_sql)
            if instead:
                report(start + match.start(), f"`{match.group()}`", instead)

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
