/** Reads YAML as a strict parser does: a repeated key, a tab or an open bracket is a fault. */
import { parseAllDocuments } from 'yaml'

/** The faults and warnings of a text, each with its line. */
export const yamlFaults = (text: string): string[] =>
  parseAllDocuments(text).flatMap(({ errors, warnings }) => [...errors, ...warnings].map(({ message }) => message))
