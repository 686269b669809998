import Foundation
import TenureCore

/// Reads a release list: a CSV file (RFC 4180) with the app's releases. It has a row of column names, then one row for
/// each release.
///
/// The columns are `platform,version,build,releasedAt,model`, in any order. In their names, case, blanks, `_` and `-`
/// are ignored.
package enum ReleaseListFile {
    /// The maximum size of a release list in bytes.
    package static let maximumSize = 16 << 20

    /// A column of the release list. The raw value is its standard name.
    package enum Column: String, CaseIterable, Sendable {
        case platform, version, build, releasedAt, model

        /// The accepted names of the column, including names in other spreadsheets and exports.
        private var names: [String] {
            switch self {
            case .platform: ["platform"]
            case .version: ["version", "marketingversion", "cfbundleshortversionstring"]
            case .build: ["build", "buildnumber", "cfbundleversion"]
            case .releasedAt: ["releasedat", "released", "releasedate", "date"]
            case .model: ["model", "pricemodel"]
            }
        }

        /// Recognizes a column by its name in the first row.
        package init?(header: String) {
            let letters = Self.letters(header)
            guard let column = Self.allCases.first(where: { $0.names.contains(letters) }) else { return nil }
            self = column
        }

        /// Returns a column name in lower case, without blanks, `_` and `-`.
        fileprivate static func letters(_ header: String) -> String {
            header.lowercased().filter { !" _-".contains($0) }
        }
    }

    /// Says which column of an exported list has which field, like `--map Date=releasedAt` of `tenure policy check`.
    /// With a mapping, other columns are ignored, platforms may have the names that App Store Connect uses, and the
    /// model may be a price.
    package struct Mapping: Sendable {
        fileprivate var columns: [String: Column] = [:]

        package init() {}

        /// The field that the column with this name has; nil if the mapping doesn't name the column.
        package subscript(name: String) -> Column? {
            get { columns[Column.letters(name)] }
            set { columns[Column.letters(name)] = newValue }
        }

        fileprivate var isEmpty: Bool { columns.isEmpty }
    }

    /// One cell of the table.
    private struct Cell {
        let text: String
        let position: SourcePosition
    }

    /// Reads a release list, with the position of each release.
    ///
    /// - Throws: all mistakes in the list.
    package static func listed(
        _ bytes: some Collection<UInt8>, named fileName: String, mapping: Mapping = Mapping()
    ) throws(PolicyFileError) -> [ListedRelease] {
        var mistakes: [PolicyFileMistake] = []
        let rows: [[Cell]]
        do throws(PolicyFileError) {
            rows = try Self.rows(of: SourceText(bytes, named: fileName, maximumSize: maximumSize), &mistakes)
        } catch {
            // Let commands show lines of the file only if the first row has a column of a release list. Any other file
            // may be secret.
            let header = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            let names = header.split { ",;\t\"\r".contains($0) }.map(String.init)
            throw names.contains { mapping[$0] != nil || Column(header: $0) != nil } ? error : error.withoutExcerpts
        }
        let start = SourcePosition(file: fileName)
        guard let header = rows.first else {
            throw PolicyFileError(
                "the release list is empty; begin it with `platform,version,build,releasedAt,model`", at: start)
        }
        let columns = try Self.columns(in: header, mapping, at: start, &mistakes)
        var releases: [ListedRelease] = []
        var missingColumns: Set<VersionKey> = []
        for row in rows.dropFirst() {
            if row.count > header.count {
                mistakes.add(
                    "this row has \(row.count) cells under \(header.count) columns; put texts with commas in quotes",
                    at: row[header.count].position)
            }
            func cell(_ column: Column) -> Cell? {
                guard let index = columns[column], row.indices.contains(index), !row[index].text.isEmpty else {
                    return nil
                }
                return row[index]
            }
            // Reads a cell. Returns nil for an empty cell. If the cell can't be read, reports the message from `advice`
            // and returns nil.
            func value<Value>(
                _ column: Column, _ read: (String) -> Value?, _ advice: (String) -> String, code: String = "mistake"
            ) -> Value? {
                guard let cell = cell(column) else { return nil }
                if let value = read(cell.text) { return value }
                mistakes.add(advice(cell.text), at: cell.position, code: code)
                return nil
            }
            func malformed(_ text: String) -> String {
                "`\(text.shortened)` isn't a version that the App Store can order; write numbers separated by periods"
            }
            let rowPosition = row.first?.position ?? start
            if cell(.platform) == nil { mistakes.add("this row has no `platform`; write one", at: rowPosition) }
            let platform = value(
                .platform, { Platform(rawValue: $0) ?? (mapping.isEmpty ? nil : PlatformName.meant(by: $0)) },
                PlatformName.advice)
            // A release without a date was released between the releases before and after it in the list.
            let releasedAt =
                cell(.releasedAt) == nil
                ? .undated : value(.releasedAt, { Release.Moment($0) }, Part.advice(forInstant:))
            let version = value(.version, { AppVersion($0) }, malformed, code: "malformed-version")
            let build = value(.build, { AppVersion($0) }, malformed, code: "malformed-version")
            let model = value(
                .model,
                { Era.Model(rawValue: $0.lowercased()) ?? (mapping.isEmpty ? nil : Era.Model(price: $0)) },
                { "`\($0.shortened)` isn't a model; write \(Spelling.choice(of: Era.Model.allCases.map(\.rawValue)))" })
            guard let platform else { continue }
            let column: Column = platform.versionKey == .bundleVersion ? .build : .version
            if columns[column] == nil {
                if missingColumns.insert(platform.versionKey).inserted {
                    mistakes.add(
                        "the column `\(column.rawValue)` is missing: on \(platform.rawValue) the App Store reports \(platform.versionKey.inApplesWords); add it",
                        at: start)
                }
                continue
            }
            if cell(column) == nil { mistakes.add(missing(platform.versionKey, on: platform), at: rowPosition) }
            guard let releasedAt else { continue }
            releases.append(
                ListedRelease(
                    release: Release(
                        platform: platform, version: version, build: build, releasedAt: releasedAt, model: model),
                    position: cell(column)?.position ?? rowPosition))
        }
        guard mistakes.isEmpty else { throw PolicyFileError(mistakes: mistakes) }
        return releases
    }

    /// Returns the index of each column in the list. Throws all mistakes in the first row and in the CSV text, because
    /// the other rows can't be read without columns.
    private static func columns(
        in header: [Cell], _ mapping: Mapping, at start: SourcePosition, _ mistakes: inout [PolicyFileMistake]
    ) throws(PolicyFileError) -> [Column: Int] {
        var columns: [Column: Int] = [:]
        let headerNames = Set(header.map { Column.letters($0.text) })
        for (name, column) in mapping.columns.sorted(by: { $0.key < $1.key }) where !headerNames.contains(name) {
            mistakes.add(
                "the first row has no column `\(name.shortened)` for `\(column.rawValue)`; name another column with `--map COLUMN=\(column.rawValue)`",
                at: start)
        }
        // A file without a column of a release list may be secret, so the message doesn't quote it.
        guard header.contains(where: { mapping[$0.text] != nil || Column(header: $0.text) != nil }) else {
            let columns =
                mapping.isEmpty ? "`platform,version,build,releasedAt,model`" : "the columns that `--map` names"
            throw PolicyFileError(
                "this doesn't look like a release list; check the path, or begin it with \(columns)", at: start
            ).withoutExcerpts
        }
        let mapped = Set(mapping.columns.values)
        for (index, cell) in header.enumerated() {
            // A mapped column is used only for its field. A column with a standard name is used only if no other column
            // was mapped to its field.
            let standardColumn = Column(header: cell.text).flatMap { mapped.contains($0) ? nil : $0 }
            guard let column = mapping[cell.text] ?? standardColumn else {
                if !mapping.isEmpty { continue }
                let advice = Spelling.advice(for: cell.text, among: Column.allCases.map(\.rawValue))
                mistakes.add("the column `\(cell.text.shortened)` is unknown; \(advice)", at: cell.position)
                continue
            }
            if columns[column] != nil {
                mistakes.add("the column `\(column.rawValue)` occurs twice; keep one", at: cell.position)
            } else {
                columns[column] = index
            }
        }
        for column in [Column.platform, .releasedAt] where columns[column] == nil {
            mistakes.add("the column `\(column.rawValue)` is missing; add it to the first row", at: start)
        }
        guard mistakes.isEmpty else { throw PolicyFileError(mistakes: mistakes) }
        return columns
    }

    /// Returns the message about a release without the number that the App Store reports on its platform.
    static func missing(_ key: VersionKey, on platform: Platform) -> String {
        "this release has no `\(key.rawValue)`: on \(platform.rawValue) the App Store reports \(key.inApplesWords); write it"
    }

    /// Parses the CSV text into rows. Blanks around cells are removed, and empty rows are left out.
    private static func rows(
        of source: SourceText, _ mistakes: inout [PolicyFileMistake]
    ) throws(PolicyFileError) -> [[Cell]] {
        var rows: [[Cell]] = []
        var row: [Cell] = []
        var line = 1
        var column = 1
        var rest = source.text[...].unicodeScalars
        func position() -> SourcePosition { SourcePosition(file: source.fileName, line: line, column: column) }
        func advance() -> Unicode.Scalar? {
            guard let scalar = rest.popFirst() else { return nil }
            if scalar == "\n" {
                line += 1
                column = 1
            } else {
                column += 1
            }
            return scalar
        }
        while !rest.isEmpty {
            while rest.first == " " || rest.first == "\t" { _ = advance() }
            let start = position()
            var text = String.UnicodeScalarView()
            if rest.first == "\"" {
                _ = advance()
                var isClosed = false
                while !isClosed, let scalar = advance() {
                    if scalar != "\"" {
                        text.append(scalar)
                    } else if rest.first == "\"" {
                        text.append("\"")
                        _ = advance()
                    } else {
                        isClosed = true
                    }
                }
                if !isClosed {
                    throw PolicyFileError("a quote isn't closed; write `\"` where the text ends", at: start)
                }
                while rest.first == " " || rest.first == "\t" { _ = advance() }
                if let next = rest.first, next != ",", next != "\n" {
                    mistakes.add(
                        "there is text after a closing quote; write `\"\"` for a quote inside the quoted text",
                        at: position())
                }
            }
            while let next = rest.first, next != ",", next != "\n" {
                text.append(next)
                _ = advance()
            }
            row.append(Cell(text: String(text).trimmingCharacters(in: .whitespaces), position: start))
            let end = advance()
            // Ignore the empty cell after a comma at the end of the text.
            if end != "," || rest.isEmpty {
                if row.contains(where: { !$0.text.isEmpty }) { rows.append(row) }
                row = []
            }
        }
        return rows
    }
}

extension Era.Model {
    /// Reads the model from a price: 0 is free, and more is paid.
    fileprivate init?(price text: String) {
        guard let price = Double(text), price >= 0, price.isFinite else { return nil }
        self = price == 0 ? .free : .paid
    }
}
