/** A row for every note, with an index for the list and one for its filter. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const notes = ({ sequence }: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table notes (
        seq ${sequence},
        id text not null unique,
        author text not null,
        text text not null,
        status text not null,
        external_uid text,
        metadata_json text,
        created_at bigint not null
      )`,
      'create index notes_by_author on notes (author, seq)',
    ]),
})
