/**
 * Writes the declarations of dist/client.mjs into one file that needs no other package, with the inputs and answers of
 * each verb.
 */
import ts from 'typescript-5'

const OPTIONS = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  declaration: true,
  emitDeclarationOnly: true,
}
/** These are written from their types below; the compiler declares the others. */
const WRITTEN_OUT = ['Client', 'ErrorCode']
const FILES = ['src/platform/errors.ts', 'src/client.ts']

/** Returns the text of dist/client.d.mts. Throws if it cannot write a type. */
export function clientTypes() {
  const program = ts.createProgram(FILES, OPTIONS)
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(program.getSourceFile('src/client.ts'))
  const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]))
  const typeOf = (name) => checker.getDeclaredTypeOfSymbol(resolved(checker, exported.get(name)))
  const shapes = namedShapes()
  const write = writer(checker)
  const nouns = checker.getPropertiesOfType(typeOf('Client')).map((noun) => {
    const verbs = checker.getPropertiesOfType(checker.getTypeOfSymbol(noun)).flatMap((verb) =>
      checker
        .getTypeOfSymbol(verb)
        .getCallSignatures()
        .map((signature, n) => {
          const name = `${pascal(noun.name)}${pascal(verb.name)}${n === 0 ? '' : n + 1}`
          return verbDeclaration(checker, write, shapes, name, verb.name, signature)
        }),
    )
    return `  ${noun.name}: {\n${verbs.join('\n')}\n  }`
  })
  return [
    '/** The typed client of the API of svc: `createClient(fetchTransport(url), key)`. */',
    ...FILES.flatMap((file) => declarations(program, file, exported)),
    `export type ErrorCode = ${write(typeOf('ErrorCode'), '')}`,
    ...shapes.texts(),
    `export interface Client {\n${nouns.join('\n')}\n}`,
    '',
  ].join('\n')
}

const pascal = (name) => name.charAt(0).toUpperCase() + name.slice(1)
const resolved = (checker, symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)

/** Types by name; types with the same text share the first name. */
function namedShapes() {
  const names = new Map()
  return {
    named(name, text) {
      if (!text.includes('\n')) return text
      if (!names.has(text)) names.set(text, name)
      return names.get(text)
    },
    texts: () => [...names].map(([text, name]) => `export type ${name} = ${text}`),
  }
}

/** A method: `input` is optional if nothing in it is required. */
function verbDeclaration(checker, write, shapes, name, verb, signature) {
  const answer = checker.getAwaitedType(signature.getReturnType())
  const [data, meta] = ['data', 'meta'].map((field) => checker.getTypeOfSymbol(answer.getProperty(field)))
  // The parameters are one tuple: the input and the options.
  const [tuple] = signature.getParameters().map((parameter) => checker.getTypeOfSymbol(parameter))
  const input = checker.getNonNullableType(checker.getTypeArguments(tuple)[0])
  const isOptional = checker.getPropertiesOfType(input).every(({ flags }) => flags & ts.SymbolFlags.Optional)
  const isList = meta.getProperty('has_more') !== undefined
  const item = isList ? checker.getTypeArguments(data)[0] : data
  const taken = shapes.named(`${name}Input`, write(input, '').replace(/^{}$/, 'Record<never, never>'))
  const given = shapes.named(`${name}Data`, write(item, ''))
  const answered = isList ? `ClientAnswer<${given}[], ListMeta>` : `ClientAnswer<${given}>`
  return `    ${verb}(input${isOptional ? '?' : ''}: ${taken}, options?: CallOptions): Promise<${answered}>`
}

/** Writes a type by its structure, without the names and packages that it comes from. */
function writer(checker) {
  const write = (type, indent) => {
    if (type.flags & ts.TypeFlags.Boolean) return 'boolean'
    if (type.isUnion()) return union(type.types, indent)
    if (checker.isTupleType(type))
      return `[${checker
        .getTypeArguments(type)
        .map((each) => write(each, indent))
        .join(', ')}]`
    if (checker.isArrayType(type)) {
      const item = write(checker.getTypeArguments(type)[0], indent)
      return /^[\w.]+$/.test(item) || item.startsWith('{') ? `${item}[]` : `(${item})[]`
    }
    if (type.isIntersection() || type.flags & ts.TypeFlags.Object) return object(type, indent)
    if (type.flags & (ts.TypeFlags.Instantiable | ts.TypeFlags.ESSymbolLike))
      throw new Error(checker.typeToString(type))
    return checker.typeToString(type)
  }
  const union = (types, indent) => {
    const texts = types.map((each) => write(each, indent))
    const words =
      texts.includes('true') && texts.includes('false')
        ? ['boolean', ...texts.filter((text) => !/^(true|false)$/.test(text))]
        : texts
    // Null and undefined come last, as usual.
    const isLast = (text) => text === 'null' || text === 'undefined'
    return [...new Set([...words.filter((text) => !isLast(text)), ...words.filter(isLast)])].join(' | ')
  }
  const object = (type, indent) => {
    if (type.getCallSignatures().length > 0) throw new Error(`a function: ${checker.typeToString(type)}`)
    const inner = `${indent}  `
    const fields = checker.getPropertiesOfType(type).map((property) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(property.name) ? property.name : JSON.stringify(property.name)
      const mark = property.flags & ts.SymbolFlags.Optional ? '?' : ''
      return `${inner}${key}${mark}: ${write(checker.getTypeOfSymbol(property), inner)}`
    })
    const indexes = checker
      .getIndexInfosOfType(type)
      .map(({ keyType, type: value }) => `${inner}[key: ${write(keyType, inner)}]: ${write(value, inner)}`)
    const lines = [...fields, ...indexes]
    if (lines.length === 0) return '{}'
    return `{\n${lines.join('\n')}\n${indent}}`
  }
  return write
}

/** What a file exports to users of the client, as the compiler declares it. */
function declarations(program, file, exported) {
  let text = ''
  program.emit(
    program.getSourceFile(file),
    (_, emitted) => {
      text = emitted
    },
    undefined,
    true,
  )
  const source = ts.createSourceFile('client.d.mts', text, ts.ScriptTarget.ES2023, true)
  return source.statements.flatMap((statement) => {
    const name = statement.name?.text
    return name !== undefined && exported.has(name) && !WRITTEN_OUT.includes(name)
      ? [statement.getFullText().trim()]
      : []
  })
}
