/**
 * What both sides agree on, for who must not wait for the schemas of it. A port call that came later says since which
 * contract it is there.
 */
export const contractVersion = 5

/** The header with the address at which an edge reaches its project. */
export const addressHeader = 'X-Waymark-Address'

/** The most bytes of a request, as it is sent and as it is read. */
export const mostSent = 8_000_000
export const mostRead = 64_000_000
