"""The exceptions: `path: phrase: reason`, one a line, at most twenty."""

LIMIT = 20


class Exceptions:
    def __init__(self, rows, broken):
        self.rows, self.broken, self.used = rows, broken, set()

    @classmethod
    def read(cls, path):
        rows, broken = [], []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                parts = [part.strip() for part in line.split(": ", 2)]
                if len(parts) < 3 or not all(parts):
                    broken.append(f"Scripts/prose/exceptions:{number}: no reason: write `path: phrase: reason`")
                else:
                    rows.append((number, parts[0], parts[1].lower()))
        if len(rows) > LIMIT:
            broken.append(f"Scripts/prose/exceptions:{rows[LIMIT][0]}: more than {LIMIT}: rewrite the text instead")
        return cls(rows, broken)

    def covers(self, problem):
        for number, path, phrase in self.rows:
            if problem.path == path and phrase in problem.what.lower():
                self.used.add(number)
                return True
        return False

    def mistakes(self, paths):
        unused = [
            f"Scripts/prose/exceptions:{number}: an exception without its problem in `{path}`: remove it"
            for number, path, _ in self.rows if path in paths and number not in self.used
        ]
        return self.broken + unused
