import CLibPQ

/// The version of libpq that runs here, as in 150018 for 15.18.
package var libpqVersion: Int { Int(PQlibVersion()) }
