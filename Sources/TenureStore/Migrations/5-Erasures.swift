extension Migration {
    static let erasures = Migration(
        "5 erasures",
        [
            .shared(
                """
                -- What named people who were erased, as hashes with a salt of this record (a mark): what the App Store
                -- says of them afterwards makes nobody of them.
                CREATE TABLE erasures (
                    digest TEXT NOT NULL PRIMARY KEY,
                    erased_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
        ])
}
