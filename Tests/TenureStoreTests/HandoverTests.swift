import Testing

@testable import TenureStore

@Suite struct `handing over values between two threads` {
    @Test func `values are received in the order in which they were sent`() throws {
        let handover = Handover<Int>()
        for number in 1...4 { try handover.send(number) }
        var received: [Int] = []
        for _ in 0..<3 { received.append(try handover.receive()) }
        try handover.send(5)
        for _ in 0..<2 { received.append(try handover.receive()) }
        #expect(received == [1, 2, 3, 4, 5])
    }

    @Test func `after a failure both threads throw its error, whatever fails later and whatever still waits`() throws {
        let handover = Handover<Int>()
        try handover.send(1)
        #expect(handover.fail(.full) == .full)
        #expect(handover.fail(.busy) == .full)
        #expect(throws: StoreError.full) { try handover.send(2) }
        #expect(throws: StoreError.full) { try handover.receive() }
    }
}
