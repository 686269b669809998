"""The exceptions: `path: phrase: count: reason`, one a line, at most twenty."""

LIMIT = 20
FILE = "Scripts/prose/exceptions"


class Exceptions:
    def __init__(self, rows, broken):
        self.rows, self.broken, self.used = rows, broken, {}

    @classmethod
    def read(cls, path):
        rows, broken = [], []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                parts = [part.strip() for part in line.split(": ", 3)]
                if len(parts) < 4 or not all(parts) or not parts[2].isdigit() or parts[2] == "0":
                    broken.append(f"{FILE}:{number}: no count or no reason: write `path: phrase: count: reason`")
                else:
                    rows.append((number, parts[0], parts[1].lower(), int(parts[2])))
        if len(rows) > LIMIT:
            broken.append(f"{FILE}:{rows[LIMIT][0]}: more than {LIMIT}: rewrite the text instead")
        return cls(rows, broken)

    def covers(self, problem):
        """Whether an exception with this phrase has covered fewer problems than its count."""
        for number, path, phrase, count in self.rows:
            if problem.path == path and phrase in problem.what.lower() and self.used.get(number, 0) < count:
                self.used[number] = self.used.get(number, 0) + 1
                return True
        return False

    def mistakes(self, paths):
        unused = [
            f"{FILE}:{number}: covers {self.used.get(number, 0)} problems in `{path}`, not {count}: correct the count"
            for number, path, _, count in self.rows if path in paths and self.used.get(number, 0) < count
        ]
        return self.broken + unused
