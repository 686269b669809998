import Testing

/// Waits until a condition holds. Records an issue if it doesn't hold within two minutes.
func wait(until isTrue: () async -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let start = ContinuousClock.now
    while await !isTrue() {
        guard ContinuousClock.now - start < .seconds(120) else {
            Issue.record("the condition doesn't hold after two minutes", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}
