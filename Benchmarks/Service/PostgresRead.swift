import Foundation

/// `postgres-read`: requests per second of `GET /v1/customer` on PostgreSQL, against a route of the same server
/// that sends one bare prepared SELECT for each request, decodes nothing, and answers from memory.
enum PostgresRead {
    static let name = "postgres-read"

    static func measure() throws {
        try HTTPRatio.withServer(of: 100_000, named: "postgres", on: .postgres) { customers, select in
            _ = try (HTTPRatio.load(customers, seconds: 2), HTTPRatio.load(select, seconds: 2))
            var ratios: [Double] = []
            for _ in 0..<5 {
                let (customer, floor) = try (HTTPRatio.load(customers, seconds: 3), HTTPRatio.load(select, seconds: 3))
                ratios.append(customer / floor)
                print("\(name): \(Int(customer)) requests/s, bare SELECTs \(Int(floor))")
            }
            print("ratio \(name) \(format(ratios.median)) >=0.7")
        }
    }
}
