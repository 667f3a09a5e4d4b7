/** Checks whether the client already has the content (RFC 9110, 13.1.2). */

/** The header If-None-Match is `*` or a list of tags, which are compared weakly. */
export const matchesEtag = (header: string, tag: string): boolean =>
  header.split(',').some((named) => ['*', `"${tag}"`, `W/"${tag}"`].includes(named.trim()))
