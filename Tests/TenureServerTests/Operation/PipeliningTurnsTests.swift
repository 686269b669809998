import NIOCore
import NIOEmbedded
import Testing

@testable import TenureServer

/// The turns of pipelined requests, on an event loop with a time that only the test advances.
@Suite struct `turns of pipelined requests` {
    @Test func `a turn passes on 64 requests, and the next turn begins a moment after their last response`() {
        let eventLoop = EmbeddedEventLoop()
        let turns = PipeliningTurns(eventLoop)
        var passedOn: [(request: Int, turn: Int)] = []
        for request in 0..<65 { turns.wait { passedOn.append((request, $0)) } }
        #expect(passedOn.isEmpty)
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passedOn.map(\.request) == Array(0..<64))
        for request in passedOn.dropLast() { turns.finish(request.turn) }
        eventLoop.advanceTime(by: .milliseconds(10))
        #expect(passedOn.count == 64)
        turns.finish(passedOn[63].turn)
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passedOn.map(\.request) == Array(0..<65))
    }

    @Test func `a request without a response delays the next turn for 50 ms, and no later turn`() throws {
        let eventLoop = EmbeddedEventLoop()
        let turns = PipeliningTurns(eventLoop)
        var passedOn: [Int] = []
        turns.wait { passedOn.append($0) }
        eventLoop.advanceTime(by: .milliseconds(1))
        turns.wait { passedOn.append($0) }
        eventLoop.advanceTime(by: .milliseconds(49))
        #expect(passedOn.count == 1)
        eventLoop.advanceTime(by: .milliseconds(1))
        try #require(passedOn.count == 2)
        turns.wait { passedOn.append($0) }
        // The response of the first turn comes late, and doesn't end the second turn.
        turns.finish(passedOn[0])
        eventLoop.advanceTime(by: .milliseconds(10))
        #expect(passedOn.count == 2)
        turns.finish(passedOn[1])
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passedOn.count == 3)
    }

    @Test func `a request that needs no response in its turn doesn't delay the next turn`() {
        let eventLoop = EmbeddedEventLoop()
        let turns = PipeliningTurns(eventLoop)
        var passedOn = 0
        for _ in 0..<65 {
            turns.wait {
                passedOn += 1
                turns.finish($0)
            }
        }
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passedOn == 64)
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passedOn == 65)
    }
}
