import ArgumentParser
import Foundation
import TenureCore

/// An instant on the command line: RFC 3339, or a day, which means 00:00 UTC.
struct Instant: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = Date(written: argument) else { return nil }
        self.date = date
    }
}
