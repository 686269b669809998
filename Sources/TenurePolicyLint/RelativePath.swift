/// Finds the path by which a policy can name another file, such as its release list.
enum RelativePath {
    /// Returns the path of `file` relative to the policy's folder. If `file` is absolute and `policy` isn't, returns
    /// the absolute path. Returns nil if the result would depend on the working directory, or if either is standard
    /// input (`-`).
    static func of(_ file: String, beside policy: String) -> String? {
        guard file.hasPrefix("/") == policy.hasPrefix("/") else { return file.hasPrefix("/") ? file : nil }
        guard file != "-", policy != "-" else { return nil }
        func parts(_ path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }
        let folders = parts(policy).dropLast()
        let target = parts(file)
        let common = zip(folders, target.dropLast()).prefix { $0 == $1 }.count
        let foldersToLeave = folders.dropFirst(common)
        guard !foldersToLeave.contains("..") else { return nil }
        return (foldersToLeave.map { _ in ".." } + target.dropFirst(common)).joined(separator: "/")
    }
}
