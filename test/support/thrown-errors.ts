import ts from 'typescript';

/** A function of the product, by file and name; of an object that a function returns, the member by its dotted path. */
export interface Entry {
  readonly file: string;
  readonly name: string;
  readonly member?: string;
}

interface Contents {
  readonly thrown: Set<string>;
  /** Declarations that it refers to. */
  readonly followed: Set<ts.Node>;
}

/**
 * Find the error classes that functions can construct, through everything that they refer to: functions, closures, and
 * members of interfaces through every object that implements them. Conditions are not judged, so a class that is missing here
 * cannot be thrown.
 */
export function createThrownErrors(classes: ReadonlySet<string>): (entries: readonly Entry[]) => ReadonlySet<string> {
  const config = ts.getParsedCommandLineOfConfigFile(
    'tsconfig.json',
    { noEmit: true },
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(String(messageText));
      },
    },
  );
  const options = { ...config?.options, types: [], skipLibCheck: true };
  const program = ts.createProgram(
    ['src/transactions/index.ts', 'src/resolvers/transaction/input.ts'],
    options,
    hostOfSources(options),
  );
  const checker = program.getTypeChecker();
  const sources = program
    .getSourceFiles()
    .filter(({ fileName }) => /(^|\/)src\/(transactions|chain)\//.test(fileName) && !/node_modules/.test(fileName));
  const implementations = implementationsIn(sources, checker);

  const targetsOf = (node: ts.Node): readonly ts.Node[] => {
    const found = checker.getSymbolAtLocation(node);
    const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    return (symbol?.declarations ?? []).flatMap((declared) => [declared, ...(implementations.get(declared) ?? [])]);
  };

  const read = new Map<ts.Node, Contents>();
  /** Operations share most of their code: each declaration is read once. */
  const contentsOf = (declared: ts.Node): Contents => {
    const known = read.get(declared);
    if (known) return known;
    const contents: Contents = { thrown: new Set(), followed: new Set() };
    const visit = (node: ts.Node): void => {
      if (ts.isTypeNode(node)) return;
      if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && classes.has(node.expression.text)) {
        contents.thrown.add(node.expression.text);
      }
      if (ts.isIdentifier(node)) for (const target of targetsOf(node).filter(isFollowed)) contents.followed.add(target);
      ts.forEachChild(node, visit);
    };
    visit(declared);
    read.set(declared, contents);
    return contents;
  };

  return (entries) => {
    const reached = new Set<ts.Node>(entries.map((entry) => declarationOf(program, entry)));
    // The iteration of a set includes entries that are added meanwhile.
    for (const node of reached) for (const target of contentsOf(node).followed) reached.add(target);
    return new Set([...reached].flatMap((node) => [...contentsOf(node).thrown]));
  };
}

/** Reads the sources and no package: none of the code that is followed is in one, and their types take most of the time. */
function hostOfSources(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    resolveModuleNameLiterals: (names, file) =>
      names.map(({ text }) =>
        text.startsWith('.') ? ts.resolveModuleName(text, file, options, host) : { resolvedModule: undefined },
      ),
  };
}

/** The code that a reference runs, or may run later. Classes are recorded where they are constructed. */
function isFollowed(node: ts.Node): boolean {
  if (/node_modules/.test(node.getSourceFile().fileName)) return false;
  return ts.isFunctionLike(node) || ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node);
}

/** By member of an interface, the members of the objects that are written where the interface is expected. */
function implementationsIn(
  sources: readonly ts.SourceFile[],
  checker: ts.TypeChecker,
): ReadonlyMap<ts.Node, ts.Node[]> {
  const found = new Map<ts.Node, ts.Node[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node) && !isOfPackage(node, checker)) {
      const type = checker.getContextualType(node);
      for (const property of type ? node.properties : []) {
        const name = property.name?.getText();
        const member = name === undefined ? undefined : type?.getProperty(name);
        for (const declared of member?.declarations ?? [])
          found.set(declared, [...(found.get(declared) ?? []), property]);
      }
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);
  return found;
}

/** Whether an object is given to a function of a package: it is of a type of the package, and inferring that takes long. */
function isOfPackage(object: ts.Expression, checker: ts.TypeChecker): boolean {
  const call = ts.findAncestor(
    object.parent,
    (node) => !ts.isObjectLiteralExpression(node) && !ts.isPropertyAssignment(node),
  );
  if (!call || !ts.isCallExpression(call) || !ts.isIdentifier(call.expression) || call.typeArguments) return false;
  const [declared] = checker.getSymbolAtLocation(call.expression)?.declarations ?? [];
  const imported = declared && ts.findAncestor(declared, ts.isImportDeclaration);
  return imported !== undefined && !imported.moduleSpecifier.getText().includes('./');
}

function declarationOf(program: ts.Program, { file, name, member }: Entry): ts.Node {
  const source =
    program.getSourceFile(file) ?? program.getSourceFiles().find(({ fileName }) => fileName.endsWith(`/${file}`));
  const declared = source?.statements.find((one) => ts.isFunctionDeclaration(one) && one.name?.text === name);
  if (!declared) throw new Error(`${file} declares no function ${name}`);
  return (member?.split('.') ?? []).reduce((inside: ts.Node, part) => {
    let found: ts.Node | undefined;
    const visit = (node: ts.Node): void => {
      if (found) return;
      if (ts.isPropertyAssignment(node) && node.name.getText() === part) found = node;
      else ts.forEachChild(node, visit);
    };
    ts.forEachChild(inside, visit);
    if (!found) throw new Error(`${name} has no member ${part}`);
    return found;
  }, declared);
}
