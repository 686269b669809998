import Foundation
import Testing

@testable import TenureCore

@Suite struct PlatformTests {
    @Test(arguments: [(Platform.tvOS, "2015-10-30"), (.watchOS, "2019-09-19"), (.visionOS, "2024-02-02")])
    func `an app can be acquired on a platform from the day on which its store opened, with the tolerance of dates`(
        platform: Platform, day: String
    ) {
        let opening = date(day)
        #expect(platform.storeOpening == opening)
        #expect(platform.isPossible(on: opening) && platform.isPossible(on: opening.addingTimeInterval(-2)))
        #expect(!platform.isPossible(on: opening.addingTimeInterval(-2.5)))
        #expect(platform.isPossible(on: nil))
        #expect(Platform.iOS.isPossible(on: .distantPast) && Platform.macOS.isPossible(on: .distantPast))
    }

    @Test func `only macOS reports the marketing version, and only later platforms take over the eras of iOS`() {
        #expect(Platform.allCases.filter { $0.versionKey == .shortVersionString } == [.macOS])
        #expect(Platform.allCases.filter(\.inheritsFromIOS) == [.tvOS, .watchOS, .visionOS])
        #expect(Platform.allCases.map(\.ordinal) == [0, 1, 2, 3, 4])
    }

    @Test func `a platform is recognized by its exact name in signed artifacts`() {
        let names = ["iOS", "iPadOS", "macOS", "tvOS", "watchOS", "visionOS"]
        #expect(names.map { Platform(appStoreName: $0) } == [.iOS, .iOS, .macOS, .tvOS, .watchOS, .visionOS])
        for name in ["", "ios", "ipadOS", "macOS ", "Mac", "xrOS"] { #expect(Platform(appStoreName: name) == nil) }
    }
}
