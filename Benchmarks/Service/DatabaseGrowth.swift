import Foundation

/// `database-growth`: the time for the response about one customer in a database of five million customers, against
/// that in a database of ten thousand.
enum DatabaseGrowth {
    static let name = "database-growth"

    static func measure() throws {
        try HTTPRatio.withServer(of: 10_000, named: "small") { small, _ in
            try HTTPRatio.withServer(of: 5_000_000, named: "large") { large, _ in
                _ = try (HTTPRatio.load(small, seconds: 2), HTTPRatio.load(large, seconds: 2))
                var ratios: [Double] = []
                for _ in 0..<5 {
                    let (few, many) = try (HTTPRatio.load(small, seconds: 3), HTTPRatio.load(large, seconds: 3))
                    ratios.append(few / many)
                    print("\(name): \(Int(few)) requests/s of few, \(Int(many)) of many")
                }
                print("ratio \(name) \(format(ratios.median)) <=1.25")
            }
        }
    }
}
