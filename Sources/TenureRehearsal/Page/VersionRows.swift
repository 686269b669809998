import TenureCore

/// The rows of a chart by version in the HTML report. If there are many versions, a row has several consecutive
/// versions. A row never has versions of two eras (periods in which the app was paid, or free).
struct VersionRows {
    /// One row: a version, or several consecutive versions.
    struct Row {
        /// The version of the row, or its lowest and highest version.
        let title: String
        /// The lowest version of the row; nil for a row of customers without a version, with a malformed version, or
        /// with versions that aren't counted separately.
        let lowest: AppVersion?
        let versions: [Place.Version]
    }

    let rows: [Row]

    /// Divides versions into rows. Customers without a comparable version have further rows.
    ///
    /// - Parameters:
    ///   - boundaries: the versions with which eras begin. Each begins a new row.
    ///   - maximum: the largest number of versions that get a row each. With more versions, the approximate number of
    ///     rows.
    init(_ versions: some Sequence<Place.Version>, boundaries: [AppVersion], maximum: Int) {
        var parsed: [(number: AppVersion, version: Place.Version)] = []
        var others: [Place.Version] = []
        for version in versions {
            if case .version(let text) = version, let number = AppVersion(text) {
                parsed.append((number, version))
            } else {
                others.append(version)
            }
        }
        parsed.sort { $0.number != $1.number ? $0.number < $1.number : $0.version.precedes($1.version) }
        var rows: [Row] = []
        var rest = parsed[...]
        for boundary in boundaries.sorted() {
            let end = rest.firstIndex { $0.number >= boundary } ?? rest.endIndex
            rows += Self.rows(of: rest[..<end], total: parsed.count, maximum: maximum)
            rest = rest[end...]
        }
        rows += Self.rows(of: rest, total: parsed.count, maximum: maximum)
        self.rows = rows + others.sorted { $0.precedes($1) }.map { Row(title: $0.title, lowest: nil, versions: [$0]) }
    }

    /// Divides the versions of one era into rows with about the same number of versions each. The number of rows is in
    /// proportion to the era's share of all versions, but at least one.
    private static func rows(
        of part: ArraySlice<(number: AppVersion, version: Place.Version)>, total: Int, maximum: Int
    ) -> [Row] {
        guard !part.isEmpty else { return [] }
        let rowCount = total <= maximum ? part.count : max(1, part.count * maximum / total)
        return (0..<rowCount).compactMap { row in
            let start = part.startIndex + part.count * row / rowCount
            let end = part.startIndex + part.count * (row + 1) / rowCount
            let versions = part[start..<end]
            guard let first = versions.first, let last = versions.last else { return nil }
            let title = versions.count == 1 ? first.version.title : "\(first.version.title)–\(last.version.title)"
            return Row(title: title, lowest: first.number, versions: versions.map(\.version))
        }
    }
}
