"""Relative links with anchors, decision records and rules of Docs/decision-rules.md."""

import os
import re

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PAGE = re.compile(r"\b(?:Docs|Examples|Tests|Scripts|Packaging|Benchmarks|Fuzz)/[\w./-]+\w(?:#[\w-]+)?")
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
        self.pages = {}
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

    def problems(self, path, text):
        """Pairs of an offset in the text and what is wrong."""
        if path.endswith(".md"):
            for match in LINK.finditer(text):
                target = match.group(1)
                if re.match(r"[a-z]+:|<|doc:", target):
                    continue
                full = path + target if target.startswith("#") else os.path.normpath(
                    os.path.join(os.path.dirname(path), target))
                problem = self.missing(full)
                if problem:
                    yield match.start(), f"link `{target}`", problem
        for match in PAGE.finditer(text):
            if text[match.start() - 1:match.start()] in "/(" and match.start():
                continue
            if match.group().startswith("Docs/"):
                problem = self.missing(match.group())
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
