/// A position in a file. Lines and columns are counted from 1, columns in Unicode scalars.
package struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int = 1, column: Int = 1) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The position as compilers write it, such as `policy.yaml:12:7`.
    package var description: String { "\(file):\(line):\(column)" }

    /// Returns a value for sorting: positions in the main file come before positions in other files.
    package func order(mainFile: String) -> (Int, String, Int, Int) { (file == mainFile ? 0 : 1, file, line, column) }
}
