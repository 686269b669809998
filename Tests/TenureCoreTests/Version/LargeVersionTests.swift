import Testing

@testable import TenureCore

/// Versions with small components are packed into 64 bits, and others compared digit by digit.
@Suite struct LargeVersionTests {
    @Test func `versions with components around the largest packed number 2097151 are in numeric order`() {
        let ascending = [
            "1", "1.0.2097151", "1.0.2097152", "1.0.2097153", "1.2097151", "1.2097152", "1.2097152.1", "1.2097153", "2",
            "2097151", "2097151.9", "2097152", "2097152.0.1", "2097153", "4194304",
        ].compactMap { AppVersion($0) }
        #expect(ascending.count == 15)
        for (index, lower) in ascending.enumerated() {
            for higher in ascending[(index + 1)...] {
                #expect(lower < higher && lower != higher && !(higher < lower), "\(lower) and \(higher)")
            }
        }
        for (text, same) in [("2097152", "02097152.0"), ("1.2097152", "1.2097152.0.0"), ("2097151", "2097151.0")] {
            #expect(AppVersion(text) == AppVersion(same))
            #expect(AppVersion(text)?.hashValue == AppVersion(same)?.hashValue)
        }
    }
}
