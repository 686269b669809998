import Foundation
import Testing

@testable import Tenure

@Suite struct DeviceTimeTests {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)

    private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    @Test func `a device's clock is treated as set back if it goes back by more than five minutes`() {
        var time = DeviceTime(clock: start)
        time.begin("1/pro", at: start)
        time.observe(clock: after(1000))
        // The device corrects its clock by minutes all the time.
        time.observe(clock: after(700))
        #expect(!time.isTurnedBack(after(700)) && time.isTurnedBack(after(699)))
        #expect(time.age(after(1000)) == 1000 && time.elapsed(since: "1/pro", after(1000)) == 1000)
        // The time that has passed is kept.
        time.observe(clock: after(699))
        #expect(time.age(after(699)) == 1000 && time.elapsed(since: "1/pro", after(699)) == 1000)
        #expect(time.now(after(699)) == after(1000) && time.now(after(1001)) == after(1001))
        #expect(time.elapsed(since: "1/cloud", after(699)) == nil)
    }

    @Test func `a device's time measurement that is started twice runs from its earlier start`() {
        var time = DeviceTime(clock: start)
        time.begin("1/pro", at: after(60))
        time.begin("1/pro", at: after(90))
        #expect(time.elapsed(since: "1/pro", after(100)) == 40)
        time.begin("1/pro", at: after(30))
        #expect(time.elapsed(since: "1/pro", after(100)) == 70)
        #expect(time.elapsed(since: "1/pro", start) == 0)
    }

    @Test func `a newer signature or service time corrects a stored instant that is in the future`() {
        var time = DeviceTime(clock: after(5000))
        time.update(signedAt: start, clock: after(10))
        #expect(time.now(after(10)) == after(5000))
        time.update(signedAt: after(100), clock: after(50))
        #expect(time.now(start) == after(100))
        time.update(signedAt: after(60), clock: after(5000))
        #expect(time.now(start) == after(100))
        // The service's time corrects it too, but not before the newest signature.
        time.observe(clock: after(5000))
        time.update(serviceTime: after(20), clock: after(30))
        #expect(time.now(start) == after(100))
        time.update(serviceTime: after(150), clock: after(30))
        #expect(time.now(start) == after(150))
        time.update(serviceTime: after(120), clock: after(160))
        #expect(time.now(start) == after(160))
    }

    @Test func `a stored time is written again only after five minutes, or if a date that counts has changed`() {
        let stored = DeviceTime(clock: start)
        for (seconds, isSame) in [(0.0, true), (299, true), (300, false)] {
            var time = stored
            time.observe(clock: after(seconds))
            #expect(stored.agrees(with: time) == isSame, "\(seconds) seconds")
        }
        var begun = stored
        begun.begin("1/pro", at: start)
        var signed = stored
        signed.update(signedAt: start, clock: start)
        var waiting = stored
        waiting.countWaiting(from: DeviceTime(clock: after(-1)), at: start)
        for time in [begun, signed, waiting] { #expect(!stored.agrees(with: time)) }
    }

    @Test func `the time for which another state has waited counts, and its later time too`() {
        var time = DeviceTime(clock: start)
        var other = DeviceTime(clock: after(-1000))
        other.observe(clock: after(50))
        time.countWaiting(from: other, at: after(20))
        #expect(time.age(after(20)) == 1020)
        #expect(time.now(after(20)) == after(50))
        // A state that began later changes nothing.
        time.countWaiting(from: DeviceTime(clock: after(30)), at: after(40))
        #expect(time.age(after(40)) == 1040 && time.now(after(40)) == after(50))
    }

    @Test(
        arguments: [
            (300, nil, true), (301, nil, false), (301, 0, true), (100_000, 0, true),
        ] as [(Double, Double?, Bool)])
    func `a clock that was later than the latest known time is possible only after a newer signature`(
        ahead: Double, signing: Double?, isPossible: Bool
    ) throws {
        struct Stored: Encodable {
            let floor: Date
            let lastClock: Date
            let newestSigning: Date?
            let firstSeen: Date
            let beginnings: [String: Date] = [:]
        }
        let stored = Stored(
            floor: start, lastClock: after(ahead), newestSigning: signing.map { after($0) }, firstSeen: start)
        let time = try JSONDecoder().decode(DeviceTime.self, from: try JSONEncoder().encode(stored))
        #expect(time.isImpossible == !isPossible)
    }
}
