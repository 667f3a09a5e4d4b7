/** The roles of a daemon, in a file that loads nothing else. */
export const DAEMON_ROLES = ['api', 'worker', 'all'] as const
/** What a daemon does: answer requests, run the background workers, or both. */
export type DaemonRole = (typeof DAEMON_ROLES)[number]

/** The role that a setting or a file names; undefined for anything else. */
export const daemonRole = (text: unknown): DaemonRole | undefined => DAEMON_ROLES.find((role) => role === text)
