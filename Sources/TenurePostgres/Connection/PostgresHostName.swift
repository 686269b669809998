import CLibPQ
import TenureStore

/// One of the servers that a URL names. If a field is empty, libpq (PostgreSQL's C library) uses its default.
struct PostgresHostName: Sendable, Hashable, CustomStringConvertible {
    /// The name or IP address of the server, or the folder of its socket.
    let host: String
    /// The IP address, if the URL has the option `hostaddr`, so that the name isn't resolved.
    let address: String
    let port: String

    var description: String {
        let name = host.isEmpty ? (address.isEmpty ? "localhost" : address) : host
        return port.isEmpty ? name : "\(name):\(port)"
    }

    /// Returns the servers in the options of a URL. If the URL names none, returns those in libpq's environment
    /// variables, such as `PGHOST`.
    ///
    /// - Parameters:
    ///   - options: the options that libpq reads in the URL, by name.
    ///   - database: the name of the database for the error message.
    static func all(in options: [String: String], database: String) throws(StoreError) -> [PostgresHostName] {
        // The options that libpq takes from environment variables and service files.
        let defaults = PQconndefaults().map { options in
            defer { PQconninfoFree(options) }
            return PostgresAddress.values(options)
        }
        func list(_ name: String) -> [String] {
            guard let text = options[name] ?? defaults?[name] else { return [] }
            return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(hosts.count, addresses.count, 1)
        guard [hosts.count, addresses.count].allSatisfy({ $0 == 0 || $0 == count }),
            ports.count <= 1 || ports.count == count
        else {
            throw .unusable(
                database: database,
                detail: "its URL has \(count) hosts and another number of ports or addresses; give one for each host")
        }
        return (0..<count).map { index in
            PostgresHostName(
                host: hosts.isEmpty ? "" : hosts[index], address: addresses.isEmpty ? "" : addresses[index],
                port: ports.count == count ? ports[index] : ports.first ?? "")
        }
    }
}
