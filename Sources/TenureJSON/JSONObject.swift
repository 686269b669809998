/// The members of a JSON object, in their order.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A name with its value.
    public struct Member: Sendable, Hashable {
        /// The name, with escapes decoded.
        public let name: String
        /// The value, which may be an object or array again.
        public let value: JSONValue

        /// Creates a member. `name` is the text without escapes; `JSONValue.bytes` adds them.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members in the order of the text.
    public var members: [Member]

    /// Creates an object. The names must be different.
    public init(members: [Member] = []) { self.members = members }

    /// Decodes the object at an index of the tape. The result is empty if another kind of value is there.
    package init(_ tape: JSONTape, at index: Int) {
        members = []
        guard index < tape.nodes.count, tape.nodes[index].kind == .object else { return }
        var name = index + 1
        while name + 1 < Int(tape.nodes[index].next) {
            members.append(Member(name: tape.string(at: name) ?? "", value: JSONValue(tape, at: name + 1)))
            name = Int(tape.nodes[name + 1].next)
        }
    }

    /// The value of a member; nil if there is no such member. Setting a value changes the member in place, or appends a
    /// new member. Setting nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = Member(name: name, value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Creates an object with the members in the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init(members: members.map { name, value in Member(name: name, value: value) })
    }
}
