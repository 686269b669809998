/// The error for an unknown `AppStoreOperation`, or for an operation with an unknown, missing or invalid parameter.
package struct OperationMistake: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    package init(unknown kind: String) {
        self.init(
            "there is no operation `\(kind)`; the operations are \(AppStoreOperation.Kind.allCases.map(\.rawValue).joined(separator: ", "))"
        )
    }

    init(unknown parameter: String, of kind: AppStoreOperation.Kind) {
        let names = kind.parameters.map { "`\($0.name.rawValue)`" }.joined(separator: ", ")
        self.init("`\(kind.rawValue)` has no parameter `\(parameter)`; it has \(names.isEmpty ? "none" : names)")
    }

    init(_ text: String, in parameter: AppStoreOperation.Parameter, mustBe wanted: String) {
        self.init("`\(parameter.rawValue)` must be \(wanted); found `\(text)`")
    }
}
