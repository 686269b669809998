import Foundation
import TenureCore

/// An instant on the command line: RFC 3339, or a day, which means 00:00 UTC.
struct Instant {
    let date: Date

    /// Throws an error with an example. ArgumentParser's message about the option ends with the error's description.
    init(parsing text: String) throws {
        guard let date = Date(written: text) else {
            throw CommandError("write a day such as 2027-01-31, or an instant such as 2027-01-31T18:00:00Z")
        }
        self.date = date
    }
}
