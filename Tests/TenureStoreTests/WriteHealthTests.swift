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
}
