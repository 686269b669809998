import Testing

@testable import TenureStore

@Suite struct `the readiness of a database` {
    // A probe may fit on a disk that is too full for a customer, or reach another server than the write did.
    @Test(arguments: [StoreError.full, .readOnly(database: "tenure", detail: "it is a standby")])
    func `a database isn't ready after it refused a write, even if a small write succeeds`(error: StoreError) async {
        let health = WriteHealth()
        #expect(await health.failure { nil } == nil)
        await health.note(error)
        #expect(await health.failure { nil } == error)
    }

    @Test func `a database stays ready after a write that waited too long for another write`() async {
        let health = WriteHealth()
        await health.note(.busy)
        #expect(await health.failure { nil } == nil)
    }

    @Test(
        arguments: [
            (.busy, nil), (.failed("no"), .failed("no")), (.damaged("so"), .damaged("so")),
            (.unreachable(database: "db", detail: "down"), .unreachable(database: "db", detail: "down")),
        ] as [(StoreError, StoreError?)])
    func `a database isn't ready if a small write fails, but it may be locked for a moment`(
        error: StoreError, expected: StoreError?
    ) async {
        let health = WriteHealth()
        #expect(await health.failure { error } == expected)
        // Only a full or a read-only database concerns all writes for a while.
        let other = WriteHealth()
        await other.note(error)
        #expect(await other.failure { nil } == nil)
    }
}
