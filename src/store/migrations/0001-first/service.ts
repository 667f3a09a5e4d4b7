/** Tables of the service itself: settings, counters of gapless numbers, and leases of background jobs. */

export const serviceTables = (): string[] => [
  `create table settings (
    name text primary key,
    value text not null
  )`,
  `create table counters (
    name text primary key,
    value bigint not null
  )`,
  `create table leases (
    name text primary key,
    owner text not null,
    until bigint not null,
    slot bigint not null,
    done bigint not null default 0
  )`,
]
