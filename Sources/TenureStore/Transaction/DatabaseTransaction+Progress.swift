/// Single values in the table `progress`, such as the position of an unfinished task.
extension DatabaseTransaction {
    /// Returns a value of the table `progress`; nil if it isn't set.
    package func storedValue(named name: String) throws(StoreError) -> String? {
        try session.texts("SELECT value FROM progress WHERE name = $1", [.text(name)]).first
    }

    /// Sets a value of the table `progress`; nil removes it.
    package func setStoredValue(named name: String, to value: String?) throws(StoreError) {
        guard let value else {
            try session.execute("DELETE FROM progress WHERE name = $1", [.text(name)])
            return
        }
        try session.execute(
            "INSERT INTO progress (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [.text(name), .text(value)])
    }
}
