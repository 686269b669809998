"""Relative links with anchors, paths, DocC pages, decision records and rules of Docs/decision-rules.md."""

import glob
import os
import re
import subprocess

LINK = re.compile(r"\[[^\]]*\]\(<?([^)>\s]+)>?[^)]*\)|<(?:img|a|source)\b[^>]*?\b(?:src|href|srcset)=[\"']([^\"'\s]+)")
REFERENCE = re.compile(r"(?<![\w\]])\[([^\]]+)\]\[([^\]]*)\]")
DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?([^>\s]+)")
DOC = re.compile(r"<doc:([^>#]+)[^>]*>|\(doc:([^)#]+)[^)]*\)")
FOLDERS = r"Sources|Docs|Examples|Tests|Scripts|Packaging|Benchmarks|Fuzz"
PAGE = re.compile(rf"(?<![\w/.…-])(?:{FOLDERS})/[\w./…+-]*\w(?:#[\w-]+)?")
ADR = re.compile(r"\bADR (\d+)\b|\b[Dd]ecisions? (\d{4})\b")
RULES = re.compile(r"\b[Rr]ules? ([A-J]\d{0,2})\b((?:(?:,| and|, and| to|–|-) ?[A-J]\d{0,2}\b)*)")
RULE = re.compile(r"[A-J]\d{0,2}")
DEFINED = re.compile(r"^\s*(?:[-*]\s+)?\*\*([A-J]\d+)\.?\*\*", re.MULTILINE)
SECTION = re.compile(r"^#+ ([A-J])\. ", re.MULTILINE)


def anchors(source):
    """The anchors of a page, as code hosts derive them from headings."""
    found, seen, fence = set(), {}, False
    for line in source.split("\n"):
        if line.lstrip().startswith("```"):
            fence = not fence
        match = None if fence else re.match(r"#{1,6}\s+(.*)", line)
        if match:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            found.add(f"{slug}-{count}" if count else slug)
    return found


class Links:
    def __init__(self, root):
        self.root = root
        self.pages, self.known = {}, None
        rules = self.read("Docs/decision-rules.md")
        self.rules = set(DEFINED.findall(rules)) | set(SECTION.findall(rules))
        folder = os.path.join(root, "Docs/adr")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        self.records = {name[:4] for name in names if re.match(r"\d{4}-", name)}

    def read(self, path):
        try:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                return file.read()
        except OSError:
            return ""

    def anchors(self, path):
        if path not in self.pages:
            self.pages[path] = anchors(self.read(path))
        return self.pages[path]

    def missing(self, target):
        path, _, anchor = target.partition("#")
        if not os.path.exists(os.path.join(self.root, path)):
            return f"`{path}` doesn't exist"
        if anchor and path.endswith(".md") and anchor not in self.anchors(path):
            return f"`{path}` has no heading `#{anchor}`"
        return None

    def page(self, path):
        """What is wrong with a path. `…` means any folders, and `NAME` any name."""
        pattern = re.sub(r"/?(?:…|\.\.\.)/?", "/**/", re.sub(r"(?<=/)[A-Z]{3,}(?=/|$)", "*", path))
        if pattern == path:
            problem = self.missing(path)
        else:
            found = glob.glob(os.path.join(self.root, pattern), recursive=True)
            problem = None if found else f"`{path}` doesn't exist"
        return None if problem and self.ignored(path) else problem

    def ignored(self, path):
        """Whether Git ignores this path: a command makes it."""
        command = ["git", "-C", self.root, "check-ignore", "--quiet", path + "/"]
        return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0

    def target(self, path, target, is_comment):
        """What is wrong with the target of a link in this file. A comment may also name a path from the root."""
        if re.match(r"[a-z]+:", target):
            return None
        beside = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target[0] != "#" else path + target
        return None if is_comment and not self.missing(target) else self.missing(beside)

    def articles(self):
        """Names of DocC pages and of modules."""
        if self.known is None:
            pages = glob.glob(os.path.join(self.root, "Sources/**/*.docc/**/*"), recursive=True)
            self.known = {os.path.splitext(os.path.basename(page))[0].replace(" ", "-") for page in pages}
            self.known |= set(os.listdir(os.path.join(self.root, "Sources"))) if pages else set()
        return self.known

    def definitions(self, path, source):
        """Lines with a link by reference: `[text][name]`, and `[name]: target`."""
        names, uses, fence = set(), [], False
        for number, line in enumerate(source.split("\n"), 1):
            if line.lstrip().startswith("```"):
                fence = not fence
            match = None if fence else DEFINITION.match(line)
            if match:
                names.add(match.group(1).lower())
                problem = self.target(path, match.group(2), False)
                if problem:
                    yield number, f"link `{match.group(2)}`", problem
            elif not fence:
                uses += [(number, use) for use in REFERENCE.finditer(re.sub(r"`[^`]*`", "", line))]
        for number, use in uses:
            if (use.group(2) or use.group(1)).lower() not in names:
                yield number, f"link `{use.group()}`", "no line `[name]: target` defines it"

    def problems(self, path, text):
        """Pairs of an offset in the text and what is wrong."""
        is_page, text, kind = path.endswith(".md"), text.text, text.kind
        if kind == "prose":
            for match in LINK.finditer(text):
                target = match.group(1) or match.group(2)
                problem = self.target(path, target, not is_page)
                if problem:
                    yield match.start(), f"link `{target}`", problem
            for match in DOC.finditer(text):
                name = (match.group(1) or match.group(2)).rsplit("/", 1)[-1]
                if name not in self.articles():
                    yield match.start(), match.group(), "no such DocC page"
            text = LINK.sub(lambda link: re.sub(r"[^\n]", " ", link.group()), text)
        for match in PAGE.finditer(text):
            # Messages of tests name paths in temporary folders.
            if kind == "prose" or is_page or match.group().startswith("Docs/"):
                problem = self.page(match.group())
                if problem:
                    yield match.start(), match.group(), problem
        for match in ADR.finditer(text):
            number = (match.group(1) or match.group(2)).zfill(4)
            if number not in self.records:
                yield match.start(), match.group(), "no such decision record in `Docs/adr`"
        if self.rules:
            for match in RULES.finditer(text):
                for rule in RULE.findall(match.group(1) + match.group(2)):
                    if rule not in self.rules:
                        yield match.start(), match.group(), f"`Docs/decision-rules.md` has no rule {rule}"
