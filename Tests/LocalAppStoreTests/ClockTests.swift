import Foundation
import LocalAppStore
import Testing

@Test func `the clock never runs backwards`() {
    var clock = StoreClock(startingAt: Date(timeIntervalSince1970: 100))
    clock.advance(by: -5)
    #expect(clock.now.timeIntervalSince1970 == 100)
}
