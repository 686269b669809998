extension Migration {
    static let publications = Migration(
        "6 publications",
        [
            .shared(
                """
                -- Which version of the policy decided since when; the last one decides now. Append-only. `act` is
                -- `start`, `publish` or `rollback`; the counts are customers, then promises.
                CREATE TABLE publications (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    policy INTEGER NOT NULL REFERENCES policies (version),
                    act TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    actor TEXT NOT NULL,
                    author TEXT,
                    reason TEXT,
                    rehearsal TEXT,
                    customers INTEGER NOT NULL,
                    gaining INTEGER NOT NULL,
                    losing INTEGER NOT NULL,
                    ended INTEGER NOT NULL,
                    restored INTEGER NOT NULL
                ) STRICT;

                -- What a policy would have done, at the time when it was asked. `base` is the publication that decided
                -- then, `sha256` tells the policy, `report` is JSON.
                CREATE TABLE rehearsals (
                    id TEXT NOT NULL PRIMARY KEY,
                    base INTEGER NOT NULL REFERENCES publications (id),
                    sha256 BLOB NOT NULL,
                    at INTEGER NOT NULL,
                    actor TEXT NOT NULL,
                    gaining INTEGER NOT NULL,
                    losing INTEGER NOT NULL,
                    losing_with_promises INTEGER NOT NULL,
                    report TEXT NOT NULL
                ) STRICT;

                -- A promise that a publication ended binds no more; one that a rollback restored has none here again.
                ALTER TABLE promises ADD COLUMN ended_by INTEGER REFERENCES publications (id);
                CREATE INDEX promises_by_end ON promises (ended_by) WHERE ended_by IS NOT NULL;
                """)
        ])
}
