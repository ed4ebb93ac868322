/* SVG elements: texts, numbers, colours.  Colours are classes with a style for light and one for dark, so that
 * the same file suits both: the reader's browser chooses. */
#include "view/plot/svg.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the character at `s`; 0: none that XML takes. */
static int xml_length(const unsigned char *s) {
    bool control = s[0] < 0x20 || s[0] == 0x7f, no_character = s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe;
    return control || no_character ? 0 : utf8_length(s, SIZE_MAX);
}

static void write_escaped(FILE *file, const char *text) {
    for (const char *s = text; *s;) {
        int length = xml_length((const unsigned char *)s);
        const char *name = *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : *s == '"' ? "&quot;" : NULL;
        if (name || !length) {
            fputs(name ? name : "?", file);
        } else {
            fwrite(s, 1, (size_t)length, file);
        }
        s += length ? length : 1;
    }
}

static void write_number(FILE *file, double value) {
    char text[PLOT_LABEL_BYTES];
    double rounded = round(value * 10) / 10;
    plot_print_number(rounded + 0.0, rounded == floor(rounded) ? 0 : 1, text);
    fputs(strcmp(text, "-0") == 0 ? "0" : text, file);
}

void svg_print(FILE *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* %t is a text to escape, %s markup, %d a whole number, all else a number */
    for (const char *f = format; *f; f++) {
        if (*f != '%') {
            fputc(*f, file);
            continue;
        }
        switch (*++f) {
        case 't':
            write_escaped(file, va_arg(arguments, const char *));
            break;
        case 's':
            fputs(va_arg(arguments, const char *), file);
            break;
        case 'd':
            fprintf(file, "%d", va_arg(arguments, int));
            break;
        default:
            write_number(file, va_arg(arguments, double));
        }
    }
    va_end(arguments);
}

/* Widths of the letters of common sans-serif fonts, in groups. */
double svg_text_width(const char *text, double size) {
    double width = 0;
    for (const char *s = text; *s; s++) {
        if ((*s & 0xc0) != 0x80) { /* once a letter */
            width += strchr("iljtfr.,:;'|![]()/ -", *s) ? 0.34 : strchr("mwMW@%", *s) ? 0.9 : 0.6;
        }
    }
    return width * size;
}

typedef struct theme {
    const char *paper, *text, *faint, *axis, *zero, *grid, *minor;
    const char *colour[PLOT_COLOURS];
} theme;

static const theme light = {
    "#ffffff", "#1f2328",
    "#59636e", "#818b98",
    "#c4cbd3", "#e3e7eb",
    "#f1f3f5", {"#0969c3", "#d1342f", "#1a8a4c", "#d97a06", "#8250df", "#0b9aa8", "#c2388f", "#7a5c3e"},
};
static const theme dark = {
    "#0d1117", "#e6edf3",
    "#9aa4af", "#6e7681",
    "#3d444d", "#262c34",
    "#1a2027", {"#58a6ff", "#ff7b72", "#56d384", "#f0a83c", "#bc8cff", "#4fd6e0", "#f778ba", "#c9a57f"},
};

static void theme_style(FILE *file, const theme *t) {
    fprintf(file, ".paper{fill:%s}.title,.name{fill:%s}.label,.key{fill:%s}", t->paper, t->text, t->faint);
    fprintf(file, ".axis{stroke:%s}.zero{stroke:%s}.grid{stroke:%s}.minor{stroke:%s}.n{stroke:%s;color:%s}", t->axis,
            t->zero, t->grid, t->minor, t->faint, t->faint);
    for (int k = 0; k < PLOT_COLOURS; k++) {
        fprintf(file, ".c%d{stroke:%s;color:%s}", k, t->colour[k], t->colour[k]);
    }
}

void svg_print_style(FILE *file) {
    fputs("<style>\ntext{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}\n"
          ".title{font-size:15px;font-weight:600}.name{font-size:12.5px;font-weight:600}\n"
          ".label{font-size:11px;font-variant-numeric:tabular-nums}.key{font-size:11.5px}\n"
          "path{fill:none;stroke-width:1}.curve{stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}\n"
          ".dot{stroke-width:5}path.band{fill:currentColor;fill-opacity:.18;stroke:none}"
          ".d1{stroke-dasharray:7 4}.d2{stroke-dasharray:1.5 3.5}.d3{stroke-dasharray:9 3 1.5 3}\n",
          file);
    theme_style(file, &light);
    fputs("\n@media (prefers-color-scheme:dark){", file);
    theme_style(file, &dark);
    fputs("}\n</style>\n", file);
}

svg_class svg_class_of(plot_look look) {
    static const char *const dash[PLOT_DASHES] = {"", " d1", " d2", " d3"};
    svg_class class = {"n"};
    if (look.colour != PLOT_NEUTRAL) {
        snprintf(class.text, sizeof class.text, "c%d%s", look.colour % PLOT_COLOURS, dash[look.dash % PLOT_DASHES]);
    } else {
        snprintf(class.text, sizeof class.text, "n%s", dash[look.dash % PLOT_DASHES]);
    }
    return class;
}
