/** The vendored library of tables, which has no types. */
declare const TableCore: any;
