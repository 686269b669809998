extension Migration {
    /// No number of a customer is given twice: access tokens name customers by it, also those who were erased.
    ///
    /// A sequence of PostgreSQL never goes back; SQLite takes the number after the highest, unless the table is made to
    /// remember. Nothing but a new table changes that: https://www.sqlite.org/lang_altertable.html, section 7.
    static let numbers = Migration(
        "4 numbers",
        [
            .only(
                .sqlite,
                """
                CREATE TABLE numbered_customers (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    realm INTEGER NOT NULL,
                    public_id TEXT NOT NULL UNIQUE,
                    created_at INTEGER NOT NULL,
                    facts BLOB NOT NULL,
                    merged_into INTEGER REFERENCES customers (id),
                    announced TEXT,
                    next_end INTEGER
                ) STRICT;
                INSERT INTO numbered_customers (
                    id, realm, public_id, created_at, facts, merged_into, announced, next_end
                ) SELECT id, realm, public_id, created_at, facts, merged_into, announced, next_end
                    FROM customers ORDER BY id;

                -- What was given before, where the table remembered it already.
                INSERT INTO sqlite_sequence (name, seq)
                    SELECT 'numbered_customers', seq FROM sqlite_sequence WHERE name = 'customers'
                        AND seq > (SELECT coalesce(max(id), 0) FROM customers);
                DELETE FROM sqlite_sequence WHERE name = 'numbered_customers' AND seq < (
                    SELECT max(seq) FROM sqlite_sequence WHERE name = 'numbered_customers');

                DROP TABLE customers;
                ALTER TABLE numbered_customers RENAME TO customers;
                CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL;
                CREATE INDEX customers_by_end ON customers (next_end) WHERE next_end IS NOT NULL;
                """)
        ])
}
