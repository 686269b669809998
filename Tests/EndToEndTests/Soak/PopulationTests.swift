import CommandRunner
import Foundation
import Testing

/// A population against the service over HTTP; `make soak` lets 100,000 live.
@Test func `what the service knows of a population ends as the truth`() async throws {
    let result = try await Command.run("scenario", "soak", "--customers", "300", "--seed", "tests")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let last = try #require(result.output.split(separator: "\n").last)
    #expect(last.hasSuffix("answers were compared, 0 differ"))
    // Lives in which nothing happens would end as the truth, too.
    for word in [
        "subscribes", "upgrades", "cannot pay", "leaves the family", "returns the app", "has a period refunded",
    ] {
        #expect(result.output.contains("  \(word): "), "\(word)")
    }
}
