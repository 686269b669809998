extension Migration {
    static let personas = Migration(
        "3 personas",
        [
            .shared(
                """
                -- Customers to rehearse with. `public_id` stands in the token, `facts` holds the one proof that the
                -- persona stands for. A name belongs to one that is good; what ended keeps it beside others.
                CREATE TABLE personas (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    public_id TEXT NOT NULL UNIQUE,
                    name TEXT NOT NULL,
                    facts BLOB NOT NULL,
                    created_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    revoked_at INTEGER
                ) STRICT;
                CREATE UNIQUE INDEX personas_by_name ON personas (name) WHERE revoked_at IS NULL;
                """)
        ])
}
