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
}
