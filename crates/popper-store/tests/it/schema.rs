//! Both databases have the same tables, as they report them, and each statement is in the source once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use popper_store::Access;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use crate::place::{self, Place as _};

/// The lines that say what a database has.
type Facts = BTreeSet<String>;

/// The words of a condition that count, in one form for both databases.
fn condition(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => rest[1..].find('\'').unwrap() + 2,
            '<' | '>' | '=' => rest.find(|c| !"<>=".contains(c)).unwrap_or(rest.len()),
            _ if first.is_alphanumeric() => rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        rest = after;
        // `x IN (1, 2)` is `x = ANY (ARRAY[1::bigint, 2::bigint])` as the server says it.
        let is_form = ["IN", "ANY", "ARRAY", "text", "bigint", "="].contains(&word);
        if word.starts_with(|c: char| c.is_alphanumeric() || "'<>=".contains(c)) && !is_form {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The conditions in `CHECK (...)`, and what follows a word on its line.
fn checks(sql: &str) -> impl Iterator<Item = String> {
    sql.split("CHECK (").skip(1).map(|rest| {
        let mut depth = 1;
        let end = rest.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        condition(&rest[..end.unwrap()])
    })
}

async fn rows<R>(conn: &mut SqliteConnection, sql: &str) -> Vec<R>
where
    R: for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> + Send + Unpin,
{
    let query = sqlx::query_as(AssertSqlSafe(sql));
    query.fetch_all(conn).await.unwrap()
}

async fn facts_of_file(path: &Path) -> Facts {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut conn = options.connect().await.unwrap();
    let conn = &mut conn;
    let mut facts = Facts::new();
    let objects = "SELECT name, COALESCE(sql, '') FROM sqlite_master WHERE name NOT LIKE '!_sqlx%' ESCAPE '!' \
                   AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";
    let sources: BTreeMap<String, String> = rows(conn, objects).await.into_iter().collect();
    let tables: Vec<(String,)> = rows(
        conn,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> '_sqlx_migrations'",
    )
    .await;
    for (table,) in tables {
        let source = &sources[&table];
        let pragma =
            format!("SELECT name, type, \"notnull\", pk FROM pragma_table_info('{table}')");
        let columns: Vec<(String, String, bool, i64)> = rows(conn, &pragma).await;
        let mut key: Vec<(i64, &str)> = Vec::new();
        for (name, kind, is_required, position) in &columns {
            let kind = if kind == "INTEGER" { "bigint" } else { "text" };
            let null = if *is_required { "not null" } else { "null" };
            let column = name.to_lowercase();
            facts.insert(format!("column {table}.{column} {kind} {null}"));
            if *position > 0 {
                key.push((*position, name));
            }
        }
        key.sort_unstable();
        let key: Vec<&str> = key.into_iter().map(|(_, name)| name).collect();
        facts.insert(format!("primary {table} ({})", key.join(", ")));
        let pragma = format!("SELECT name, origin, \"unique\" FROM pragma_index_list('{table}')");
        let indexes: Vec<(String, String, bool)> = rows(conn, &pragma).await;
        for (index, origin, is_unique) in indexes {
            let pragma = format!("SELECT name FROM pragma_index_info('{index}') ORDER BY seqno");
            let columns: Vec<(String,)> = rows(conn, &pragma).await;
            let columns: Vec<String> = columns.into_iter().map(|(name,)| name).collect();
            let columns = columns.join(", ");
            match origin.as_str() {
                "pk" => {}
                "u" => {
                    facts.insert(format!("unique {table} ({columns})"));
                }
                _ => {
                    let only = sources[&index].split_once(" WHERE ");
                    let only = only.map_or(String::new(), |(_, text)| condition(text));
                    let index = format!("index {index} {is_unique} {table} ({columns}) [{only}]");
                    facts.insert(index);
                }
            }
        }
        let pragma =
            format!("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list('{table}')");
        let references: Vec<(String, String, String)> = rows(conn, &pragma).await;
        for (from, to_table, to) in references {
            let is_deferred = source
                .lines()
                .any(|line| line.trim().starts_with(&from) && line.contains("INITIALLY DEFERRED"));
            facts.insert(format!(
                "foreign {table} ({from}) {to_table} ({to}) {is_deferred}"
            ));
        }
        facts.extend(checks(source).map(|check| format!("check {table} {check}")));
    }
    facts
}

/// The names of columns with these numbers, for a query.
const NAMES: &str = "(SELECT string_agg(a.attname, ', ' ORDER BY k.place) FROM unnest(KEY) WITH ORDINALITY k (number, place) \
                     JOIN pg_attribute a ON a.attrelid = TABLE AND a.attnum = k.number)";

fn names(key: &str, table: &str) -> String {
    NAMES.replace("KEY", key).replace("TABLE", table)
}

/// The table, kind, columns, target and source of a constraint.
type Constraint = (
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    bool,
    String,
);

async fn facts_of_server(url: &str) -> Facts {
    let mut conn = place::connect(url).await;
    let mut facts = Facts::new();
    let columns = "SELECT table_name::text, column_name::text, data_type::text, is_nullable::text, collation_name::text \
                   FROM information_schema.columns WHERE table_schema = 'popper' AND table_name <> '_sqlx_migrations'";
    let columns: Vec<(String, String, String, String, Option<String>)> =
        sqlx::query_as(columns).fetch_all(&mut conn).await.unwrap();
    for (table, column, kind, is_nullable, collation) in columns {
        let null = if is_nullable == "NO" {
            "not null"
        } else {
            "null"
        };
        // Texts are in the order of their bytes.
        let expected = (kind == "text").then_some("C");
        assert_eq!(collation.as_deref(), expected, "{table}.{column}");
        facts.insert(format!("column {table}.{column} {kind} {null}"));
    }
    let constraints = format!(
        "SELECT t.relname::text, c.contype::text, {}, r.relname::text, {}, c.condeferrable AND c.condeferred, \
         pg_get_constraintdef(c.oid) FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid \
         LEFT JOIN pg_class r ON r.oid = c.confrelid \
         WHERE c.connamespace = 'popper'::regnamespace AND t.relname <> '_sqlx_migrations'",
        names("c.conkey", "c.conrelid"),
        names("c.confkey", "c.confrelid"),
    );
    let constraints: Vec<Constraint> = sqlx::query_as(AssertSqlSafe(constraints))
        .fetch_all(&mut conn)
        .await
        .unwrap();
    for (table, kind, columns, to_table, to, is_deferred, source) in constraints {
        facts.insert(match kind.as_str() {
            "p" => format!("primary {table} ({columns})"),
            "u" => format!("unique {table} ({columns})"),
            "f" => {
                let (to_table, to) = (to_table.unwrap(), to.unwrap());
                format!("foreign {table} ({columns}) {to_table} ({to}) {is_deferred}")
            }
            "c" => format!("check {table} {}", checks(&source).next().unwrap()),
            other => panic!("{other}: {source}"),
        });
    }
    let indexes = format!(
        "SELECT i.relname::text, x.indisunique, t.relname::text, {}, pg_get_expr(x.indpred, x.indrelid) \
         FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
         WHERE i.relnamespace = 'popper'::regnamespace AND t.relname <> '_sqlx_migrations' \
         AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.contype IN ('p', 'u'))",
        names("x.indkey::int2[]", "x.indrelid"),
    );
    let indexes: Vec<(String, bool, String, String, Option<String>)> =
        sqlx::query_as(AssertSqlSafe(indexes))
            .fetch_all(&mut conn)
            .await
            .unwrap();
    for (index, is_unique, table, columns, only) in indexes {
        let only = only.map_or(String::new(), |text| condition(&text));
        facts.insert(format!(
            "index {index} {is_unique} {table} ({columns}) [{only}]"
        ));
    }
    facts
}

#[tokio::test]
async fn both_databases_have_the_same_tables() {
    let file = place::file();
    drop(file.open(Access::Write).await);
    let of_file = facts_of_file(&file.path).await;
    let count = |kind: &str| of_file.iter().filter(|fact| fact.starts_with(kind)).count();
    let kinds = [
        "column ", "primary ", "unique ", "foreign ", "check ", "index ",
    ];
    assert_eq!(kinds.map(count), [92, 11, 5, 15, 6, 7], "{of_file:#?}");
    for known in [
        "column counterexamples.t bigint not null",
        "column runs.tester_model_id text null",
        "primary verdict_keys (law_fingerprint, harness_config_hash, sim_hash)",
        "unique laws (run_id, law_fingerprint)",
        "foreign law_evaluations (counterexample_id) counterexamples (id) true",
        "foreign laws (run_id) runs (id) false",
        "check iterations iteration_index >= 1",
        "check counterexamples minimized 0 1",
        "check law_evaluations status 'PASS' 'FAIL' 'UNKNOWN'",
        "index law_evaluations_by_counterexample false law_evaluations (counterexample_id) \
         [counterexample_id IS NOT NULL]",
    ] {
        assert!(of_file.contains(known), "{known}: {of_file:#?}");
    }
    let Some(server) = place::server() else {
        return;
    };
    drop(server.open(Access::Write).await);
    let of_server = facts_of_server(server.url()).await;
    let differ: Vec<&String> = of_file.symmetric_difference(&of_server).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// The string literals of a source, with spaces and the ends of lines as one space.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(start) = rest.find(['"', '\'', '/']) {
        let (mark, after) = rest[start..].split_at(1);
        rest = after;
        match mark {
            "/" if after.starts_with('/') => {
                rest = after.split_once('\n').map_or("", |(_, rest)| rest);
            }
            // A character, not a lifetime.
            "'" if after.starts_with("\"'") => rest = &after[2..],
            "'" if after.starts_with("\\\"'") => rest = &after[3..],
            "\"" => {
                let mut is_escaped = false;
                let end = after.find(|c| {
                    let is_end = c == '"' && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    is_end
                });
                let (text, more) = after.split_at(end.unwrap());
                rest = &more[1..];
                let text = text.replace("\\\n", " ");
                found.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
    }
    found
}

fn is_statement(text: &str) -> bool {
    let verbs = [
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "WITH",
        "CREATE",
        "ON CONFLICT",
    ];
    verbs
        .iter()
        .any(|verb| text.starts_with(&format!("{verb} ")))
}

/// The statements that stand more than once.
fn repeated<'a>(statements: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut seen = BTreeSet::new();
    statements
        .filter(|it| !seen.insert(it.to_lowercase()))
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_statement_stands_twice() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut statements = Vec::new();
    for path in files(&folder) {
        // Tests may ask what they like.
        let source = fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        statements.extend(literals(source).into_iter().filter(|it| is_statement(it)));
    }
    assert!(statements.len() >= 25, "{statements:#?}");
    assert!(
        statements.iter().any(|it| it.starts_with("ON CONFLICT (")),
        "{statements:#?}"
    );
    assert_eq!(repeated(statements.iter()), Vec::<&String>::new());
    // What the search must find.
    let source = "a(\"SELECT  1 \\\n      FROM t\"); // \"SELECT 2\nb('\"', '\\\"', \"SELECT 1 FROM T\", \"x\")";
    let found = literals(source);
    assert_eq!(found, ["SELECT 1 FROM t", "SELECT 1 FROM T", "x"]);
    assert_eq!(repeated(found.iter()), [&found[1]]);
}
