import TenureCore
import TenurePolicyFile

/// Returns names in backticks as a list for a message: `a`, `b` and `c`. A long list ends with a number instead, so
/// that thousands of messages about thousands of names stay short.
func inWords(_ names: [String], _ conjunction: String = "and") -> String {
    let quoted = names.prefix(20).map { "`\($0.shortened)`" }
    if names.count > quoted.count {
        return quoted.joined(separator: ", ") + " \(conjunction) \(names.count - quoted.count) more"
    }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
    return quoted.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}

/// Returns builds or versions as a list for a message: `37`, `90 and 110`, `100 … 119 (20 in all)`.
///
/// - Parameter numbers: in ascending order.
func inWords(_ numbers: [AppVersion]) -> String {
    let texts = numbers.map { "\($0)".shortened }
    guard texts.count <= 8 else { return "\(texts[0]) … \(texts[texts.count - 1]) (\(texts.count) in all)" }
    guard let last = texts.last, texts.count > 1 else { return texts.first ?? "none" }
    return texts.dropLast().joined(separator: ", ") + " and " + last
}
