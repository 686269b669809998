import Foundation

/// Dates in key files and signed statements: whole seconds since 1970.
extension Date {
    init(seconds: Int64) { self.init(timeIntervalSince1970: TimeInterval(seconds)) }

    /// The seconds since 1970, rounded toward zero.
    var seconds: Int64 { Int64(timeIntervalSince1970) }
}
