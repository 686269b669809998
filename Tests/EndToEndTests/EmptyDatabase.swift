import TenurePostgres
import TenureStore

/// Creates a database without customers, as the first start of a service does.
func createDatabase(_ text: String) async throws {
    if PostgresAddress.isPostgres(text) {
        try await Store(PostgresDatabase(PostgresAddress(text), DatabaseOpening())).close()
    } else {
        try await Store(SQLiteDatabase(path: text, DatabaseOpening())).close()
    }
}
