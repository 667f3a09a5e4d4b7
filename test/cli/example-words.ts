/** The words that a shell hands to `svc`, without variables before it and redirections after it. */
export function exampleWords(example: string): string[] {
  const words = [...example.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word)
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift()
  const end = words.findIndex((word) => /^[0-9]*[<>|]/.test(word))
  return words.slice(0, end < 0 ? undefined : end).map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'))
}
