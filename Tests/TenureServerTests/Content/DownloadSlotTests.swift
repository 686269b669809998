import TenureAPI
import Testing

@testable import TenureServer

/// The numbers of downloads at once, without a download.
@Suite struct `the limits of downloads at once` {
    private func customer(_ number: Int64, database: UInt8 = 1) -> Downloads.Customer {
        Downloads.Customer(databaseID: [database], number: number)
    }

    @Test func `a customer at the limit of downloads waits for their own downloads, and others wait for any`() throws {
        let metrics = ServiceMetrics()
        let downloads = Downloads(limit: 3, perCustomer: 2)
        func refusal(of customer: Downloads.Customer) -> Problem? {
            do throws(Problem) {
                _ = try downloads.begin(for: customer, metrics)
                return nil
            } catch {
                return error
            }
        }
        let own = Problem(
            .tooManyRequests,
            "this customer has the maximum number of downloads in progress; wait until a download ends", retryAfter: 5)
        let all = Problem(.busy, "too many downloads are in progress; try again", retryAfter: 10)
        var slots = [
            try downloads.begin(for: customer(1), metrics), try downloads.begin(for: customer(1), metrics),
        ]
        #expect(refusal(of: customer(1)) == own)
        // The customer with the same number in another app's database is another customer.
        slots.append(try downloads.begin(for: customer(1, database: 2), metrics))
        #expect(refusal(of: customer(2)) == all)
        #expect(refusal(of: customer(1)) == own)
        // The end of a download makes room for one download.
        slots.removeFirst()
        #expect(refusal(of: customer(2)) == nil)
        slots.append(try downloads.begin(for: customer(1), metrics))
        #expect(refusal(of: customer(1)) == own)
        #expect(refusal(of: customer(2)) == all)
        slots.removeAll()
        for number: Int64 in [1, 1, 2] { slots.append(try downloads.begin(for: customer(number), metrics)) }
        #expect(slots.count == 3)
    }

    @Test func `a service with few connections allows one download`() throws {
        let metrics = ServiceMetrics()
        let downloads = Downloads(limit: 0)
        let only = try downloads.begin(for: customer(1), metrics)
        #expect(throws: Problem.self) { try downloads.begin(for: customer(2), metrics) }
        withExtendedLifetime(only) {}
    }
}
