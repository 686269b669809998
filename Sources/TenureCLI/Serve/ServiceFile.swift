import Foundation
import TenureServer
import Yams

/// The configuration file of `tenure serve`: each setting under its name. Paths are relative to the file.
struct ServiceFile {
    private let path: String
    private let folder: String
    /// The settings of a shape of their own, by name, for who knows the shape.
    private(set) var structures: [String: Node] = [:]

    init(path: String) {
        self.path = path
        folder = (path as NSString).deletingLastPathComponent
    }

    /// Adds what the file says; what is wrong with it becomes mistakes, one line each with its place.
    mutating func read(into values: inout SettingValues) {
        let node: Node?
        do {
            let text = String(decoding: try InputFile(path: path).bytes(limit: 1 << 20), as: UTF8.self)
            node = try Yams.compose(yaml: text)
        } catch let error as CommandError {
            values.note(error.description)
            return
        } catch {
            values.note("`\(path)` is no YAML: \(error)")
            return
        }
        guard let mapping = node?.mapping else {
            values.note("`\(path)` holds no settings; write one a line, such as `port: 8081`")
            return
        }
        read(mapping, under: "", into: &values)
    }

    private mutating func read(_ mapping: Node.Mapping, under prefix: String, into values: inout SettingValues) {
        for (key, node) in mapping {
            let name = prefix + (key.string ?? "")
            if let setting = Setting.configurable.first(where: { $0.name == name }) {
                if setting.kind == .structure {
                    structures[name] = node
                } else {
                    read(setting, from: node, into: &values)
                }
            } else if Setting.configurable.contains(where: { $0.name.hasPrefix(name + ".") }) {
                if let inner = node.mapping {
                    read(inner, under: name + ".", into: &values)
                } else {
                    let names = Setting.configurable.map(\.name).filter { $0.hasPrefix(name + ".") }
                    values.note("\(place(node)): `\(name)` holds settings: \(names.joined(separator: ", "))")
                }
            } else {
                let names = Setting.configurable.map(\.name).joined(separator: ", ")
                values.note("\(place(key)): there is no setting `\(name)`; the settings are \(names)")
            }
        }
    }

    private func read(_ setting: Setting, from node: Node, into values: inout SettingValues) {
        var words = node.scalar.map { [$0.string] }
        if case .list = setting.kind, let sequence = node.sequence {
            let texts = sequence.compactMap { $0.scalar?.string }
            words = texts.count == sequence.count ? texts : nil
        }
        guard let words else {
            values.note("\(place(node)): `\(setting.name)` has the wrong shape; see `tenure serve --help`")
            return
        }
        // `port:` and nothing after it.
        if node.null != nil, words == [""] {
            values.note("\(place(node)): `\(setting.name)` has no value; leave it out, or write one")
            return
        }
        values.set(setting, to: words.map { setting.kind.resolved($0, in: folder) }, at: place(node))
    }

    /// A path as it stands in the file, seen from where the command runs.
    func beside(_ path: String) -> String { Setting.Kind.path.resolved(path, in: folder) }

    /// `tenure.yaml:3:7`
    func place(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1)" }
}
