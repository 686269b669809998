/// By what an act names a customer. Of those who turned out to be one it is the one with that very name.
package enum CustomerName: Sendable, Hashable {
    /// What clients and support people see.
    case publicID(String)
    /// What an access token says.
    case number(Int64)
}
