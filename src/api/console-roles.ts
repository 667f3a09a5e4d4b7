/** What a session of the console may do, in a file that loads nothing else. */
export const CONSOLE_ROLES = ['viewer', 'operator'] as const
export type ConsoleRole = (typeof CONSOLE_ROLES)[number]
