"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {'VERSION': 'I',
 'TARGET': 'J',
 'ADDRESS_SIZE': 'K',
 'FILE': 'L',
 'LOC': 'M',
 'PRAGMA': 'N',
 'ALIAS': 'O',
 'SECTION': 'P',
 'ENTRY': 'Q',
 'FUNC': 'R',
 'CALLPROTOTYPE': 'S',
 'TARGETS': 'T',
 'ENTRY_FLAG': 'U',
 'ENTRY_NUMBER': 'V',
 'ENTRY_EXTENT': 'W',
 'FUNC_FLAG': 'X',
 'FUNC_NUMBER': 'Y',
 'LINKAGE': 'Z',
 'SPACE': 'a',
 'TYPE': 'b',
 'VECTOR': 'c',
 'ALIGN': 'd',
 'PTR': 'e',
 'ATTRIBUTE': 'f',
 'SINGLE': 'g',
 'FLOAT': 'h',
 'INTEGER': 'i',
 'STRING': 'j',
 'WARP_SZ': 'k',
 'CALL': 'l',
 'GENERIC': 'm',
 'FUNCTION_NAME': 'n',
 'SINK': 'o',
 'INLINED_AT': 'p',
 'QUALIFIED': 'q',
 'DOTTED': 'r',
 'NAME': 's',
 'WORD': 't',
 '!=': 'A',
 '&&': 'B',
 '<<': 'C',
 '<=': 'D',
 '==': 'E',
 '>=': 'F',
 '>>': 'G',
 '||': 'H',
 '!': '!',
 '%': '%',
 '&': '&',
 '(': '(',
 ')': ')',
 '*': '*',
 '+': '+',
 ',': ',',
 '-': '-',
 '/': '/',
 ':': ':',
 ';': ';',
 '<': '<',
 '=': '=',
 '>': '>',
 '?': '?',
 '@': '@',
 '[': '[',
 ']': ']',
 '^': '^',
 '{': '{',
 '|': '|',
 '}': '}',
 '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {'.version': 'I',
 '.target': 'J',
 '.address_size': 'K',
 '.file': 'L',
 '.loc': 'M',
 '.pragma': 'N',
 '.alias': 'O',
 '.section': 'P',
 '.entry': 'Q',
 '.func': 'R',
 '.callprototype': 'S',
 '.branchtargets': 'T',
 '.calltargets': 'T',
 '.explicitcluster': 'U',
 '.blocksareclusters': 'U',
 '.maxnreg': 'V',
 '.minnctapersm': 'V',
 '.maxnctapersm': 'V',
 '.maxclusterrank': 'V',
 '.maxntid': 'W',
 '.reqntid': 'W',
 '.reqnctapercluster': 'W',
 '.noreturn': 'X',
 '.abi_preserve': 'Y',
 '.abi_preserve_control': 'Y',
 '.extern': 'Z',
 '.visible': 'Z',
 '.weak': 'Z',
 '.common': 'Z',
 '.reg': 'a',
 '.const': 'a',
 '.global': 'a',
 '.local': 'a',
 '.param': 'a',
 '.shared': 'a',
 '.tex': 'a',
 '.b8': 'b',
 '.b16': 'b',
 '.b32': 'b',
 '.b64': 'b',
 '.b128': 'b',
 '.s8': 'b',
 '.s16': 'b',
 '.s32': 'b',
 '.s64': 'b',
 '.u8': 'b',
 '.u16': 'b',
 '.u32': 'b',
 '.u64': 'b',
 '.f16': 'b',
 '.f16x2': 'b',
 '.f32': 'b',
 '.f64': 'b',
 '.bf16': 'b',
 '.bf16x2': 'b',
 '.tf32': 'b',
 '.s16x2': 'b',
 '.u16x2': 'b',
 '.pred': 'b',
 '.texref': 'b',
 '.samplerref': 'b',
 '.surfref': 'b',
 '.v2': 'c',
 '.v4': 'c',
 '.v8': 'c',
 '.align': 'd',
 '.ptr': 'e',
 '.attribute': 'f',
 'WARP_SZ': 'k',
 'generic': 'm',
 'function_name': 'n',
 '_': 'o',
 'inlined_at': 'p'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'WORD': '\\.[\\w$]+(?:::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, method (`-` if spliced, `?` if a lone child stands for it), length.
RULES = """\
___opcode_star_13 - 2
___opcode_star_13 - 1
__address_star_15 - 3
__address_star_15 - 3
__address_star_15 - 2
__address_star_15 - 2
__attributes_star_8 - 3
__attributes_star_8 - 2
__declarator_star_9 - 2
__declarator_star_9 - 1
__function_header_star_2 - 2
__function_header_star_2 - 1
__function_header_star_3 - 2
__function_header_star_3 - 1
__initializer_star_10 - 3
__initializer_star_10 - 2
__instruction_star_12 - 3
__instruction_star_12 - 2
__parameter_star_5 - 2
__parameter_star_5 - 1
__parameters_star_4 - 3
__parameters_star_4 - 2
__pragma_star_1 - 3
__pragma_star_1 - 2
__section_line_star_11 - 3
__section_line_star_11 - 2
__statement_star_6 - 3
__statement_star_6 - 2
__target_star_0 - 3
__target_star_0 - 2
__variable_star_7 - 3
__variable_star_7 - 2
__vector_star_14 - 3
__vector_star_14 - 2
_index - 1
_index - 1
_inlined - 8
_modifier - 1
_modifier - 1
_modifier - 1
_modifier - 1
_modifier - 1
_name - 1
_name - 1
_name - 1
_name - 1
_opcode - 2
_opcode - 1
_opcode - 2
_opcode - 1
_opcode - 2
_opcode - 1
_section_type - 1
_section_type - 1
_specifier - 1
_specifier - 1
_specifier - 1
_specifier - 1
address address 5
address address 4
address address 4
address address 3
alignment alignment 2
arguments arguments 4
arguments arguments 3
arguments arguments 2
attribute attribute 6
attribute attribute 1
attributes attributes 5
attributes attributes 4
base base? 1
base base? 1
base offset 3
base offset 3
bit_and bit_and? 1
bit_and binary 3
bit_or bit_or? 1
bit_or binary 3
bit_xor bit_xor? 1
bit_xor binary 3
body body 3
call call 11
call call 9
call call 9
call call 7
call call 9
call call 7
call call 7
call call 5
call call 10
call call 8
call call 8
call call 6
call call 8
call call 6
call call 6
call call 4
call call 10
call call 8
call call 8
call call 6
call call 8
call call 6
call call 6
call call 4
call call 9
call call 7
call call 7
call call 5
call call 7
call call 5
call call 5
call call 3
close close 1
conditional conditional? 1
conditional conditional 5
constant constant? 1
constant constant? 1
count count 3
debug_name name 1
debug_name name 1
debug_symbol debug_symbol? 1
debug_symbol binary 3
declarator declarator 4
declarator declarator 2
declarator declarator 5
declarator declarator 3
declarator declarator 6
declarator declarator 4
declarator declarator 5
declarator declarator 3
declarator declarator 4
declarator declarator 2
declarator declarator 5
declarator declarator 3
declarator declarator 4
declarator declarator 2
declarator declarator 3
declarator declarator 1
dimension dimension 3
dimension dimension 3
element element? 1
element field 3
end end 1
entry_directive entry_directive? 1
entry_directive directive 6
entry_directive directive 4
entry_directive directive 2
entry_directive directive 1
entry_directive directive 2
equality equality? 1
equality binary 3
equality binary 3
expression expression? 1
func_directive directive 1
func_directive directive 2
function function 2
function function 2
function_header function_header 3
function_header function_header 4
function_header function_header 3
function_header function_header 2
function_header function_header 3
function_header function_header 4
function_header function_header 3
function_header function_header 2
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 5
function_header function_header 6
function_header function_header 5
function_header function_header 4
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 4
function_header function_header 5
function_header function_header 4
function_header function_header 3
function_header function_header 5
function_header function_header 6
function_header function_header 5
function_header function_header 4
function_header function_header 6
function_header function_header 7
function_header function_header 6
function_header function_header 5
function_header function_header 5
function_header function_header 6
function_header function_header 5
function_header function_header 4
generic generic 4
guard guard 2
guard guard 3
initial_value initial_value? 1
initial_value initial_value? 1
initial_value initial_value? 1
initial_value binary 3
initial_value binary 3
initial_value mask 4
initializer initializer? 1
initializer vector 4
initializer vector 3
initializer vector 2
instruction instruction 4
instruction instruction 3
instruction instruction 2
instruction instruction 5
instruction instruction 4
instruction instruction 3
item item? 1
item item? 1
item item? 1
item item? 1
item item? 1
item directive 2
item directive 5
item directive 7
item directive 5
item directive 3
item directive 2
item linked_variable 2
items items 2
items items 0
label label 2
label_name name 1
logical_and logical_and? 1
logical_and binary 3
logical_or logical_or? 1
logical_or binary 3
masked masked? 1
masked masked? 1
masked masked? 1
masked binary 3
masked binary 3
module module 1
name name 2
name name 1
name name 1
open open 1
operand operand? 1
operand operand? 1
operand operand? 1
operand element 4
operand pair 3
operand pair 3
parameter parameter 4
parameter parameter 4
parameter parameter 3
parameter parameter 5
parameter parameter 5
parameter parameter 4
parameter parameter 6
parameter parameter 6
parameter parameter 5
parameter parameter 5
parameter parameter 5
parameter parameter 4
parameter parameter 3
parameter parameter 3
parameter parameter 2
parameter parameter 4
parameter parameter 4
parameter parameter 3
parameter parameter 5
parameter parameter 5
parameter parameter 4
parameter parameter 4
parameter parameter 4
parameter parameter 3
parameters parameters 4
parameters parameters 3
parameters parameters 2
plain_name name 1
pointer pointer 2
pointer pointer 3
pointer pointer 2
pointer pointer 1
pragma directive 4
pragma directive 3
primary float 1
primary integer 1
primary name 1
primary parenthesized 3
product product? 1
product binary 3
product binary 3
product binary 3
relation relation? 1
relation binary 3
relation binary 3
relation binary 3
relation binary 3
section section 3
section_header section_header 3
section_integer integer 1
section_integer unary 2
section_line section_line? 1
section_line difference 4
section_line directive 2
section_line directive 3
section_line directive 2
section_lines section_lines 2
section_lines section_lines 0
section_literal integer 1
shift shift? 1
shift binary 3
shift binary 3
single float 1
single parenthesized 3
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement statement? 1
statement call_prototype 5
statement call_prototype 6
statement call_prototype 5
statement call_prototype 4
statement call_prototype 4
statement call_prototype 5
statement call_prototype 4
statement call_prototype 3
statement directive 5
statement directive 4
statement directive 4
statement directive 3
statement inner_prototype 4
statement inner_prototype 5
statement inner_prototype 4
statement inner_prototype 3
statement inner_prototype 5
statement inner_prototype 6
statement inner_prototype 5
statement inner_prototype 4
statement inner_prototype 5
statement inner_prototype 6
statement inner_prototype 5
statement inner_prototype 4
statement inner_prototype 6
statement inner_prototype 7
statement inner_prototype 6
statement inner_prototype 5
statements statements 2
statements statements 0
sum sum? 1
sum binary 3
sum binary 3
target directive 3
target directive 2
target_label target_label 2
target_label target_label 1
unary unary? 1
unary cast 4
unary unary 2
unary unary 2
unary unary 2
unary unary 2
unsized unsized 2
value value? 1
value value? 1
value binary 3
value unary 2
value unary 2
variable variable 5
variable variable 4
variable variable 3
variable variable 4
variable variable 3
variable variable 2
vector vector 4
vector vector 3"""

# A state a line: kinds, and for each the next state, or -1 - the rule to reduce.
ACTIONS = """\
$KOdfQLRZNPaJbcI -231
$KOdfQLRZNPaJbcI -243 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17

i 30
lmso 31 32 33 34
i 36
( 37
lmso 31 32 33 34
i 39
flm(so 6 31 32 40 33 34
dfQRabc 5 6 44 45 13 15 16
j 47
t 48
dfabc -57
lmso 31 32 33 34
lms;o 31 32 33 50 34
dfabc -58
h 53
dfabc 5 6 13 54 16
dfabc -20
dfabc -55
dfabc -56
$KOdfQLRZNPaJbcI -218
{; 56 57
$KOdfQLRZNPaJbcI -230
$KOdfQLRZNPaJbcI -219
$KOdfQLRZNPaJbcI -220
lms}obt -311
$KOdfQLRZNPaJbcI -221
$KOdfQLRZNPaJbcI -222
$KOdfQLRZNPaJbcI -223
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -43
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -44
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -45
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -46
, 62
dflmseoabc -63
t 63
WUV{(N; 65 66 67 -162 40 11 -162
j 72
df)abc 5 6 73 13 74 16
XY{(; 77 78 -166 40 -166
lm(so 31 32 40 33 34
lmso 31 32 33 34
lmso 31 32 33 34
flm(so 6 31 32 40 33 34
$KOdfQLRZNPaJbcI -229
,; 89 90
{ 92
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -359 -359 -359 -359 -359 -359 -359 -359 93 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -379
,=<[; -139 95 96 97 -139
,; 102 103
$KOdfQLRZNPaJbcI -228
lms;o 31 32 33 105 34
dfabc -19
d@flSrRm{ZMsNq}oaJTbc -247
$KOdfQLRZNPaJbcI -144
$KOdfQLRZNPaJbcI -157
$KOdfQLRZNPaJbcI -158
d@flSrRm{ZMsNq}oaJTbc -354
lms}obt 31 32 33 108 34 109 110
lmso 31 32 33 34
,() -68 117 -68
,) 118 119
i 121
WUV{N; -149
i 122
WUV{N; 65 66 67 -159 11 -159
WUV{N; -12
WUV{N; 65 66 67 -161 11 -161
WUV{N; -145
$KOdf,QLRZNPaJbcI -227 -227 -227 -227 -227 125 -227 -227 -227 -227 -227 -227 -227 -227 -227 -227 -227
lWUVXYm{sN;o -280
dlmseo 5 31 32 33 126 34
dfabc 5 6 13 130 16
,) 131 132
XY{; -155
i 134
XY{; 77 78 -163 -163
XY{; -14
XY{; 77 78 -165 -165
XY{(; 77 78 -170 40 -170
lmso 31 32 33 34
XY{(; 77 78 -178 40 -178
WUV{(N; 65 66 67 -182 40 11 -182
XY{(; 77 78 -186 40 -186
lm(so 31 32 40 33 34
lmso 31 32 33 34
j 149
$KOd@flSrQWUVLRm{ZMsNq}P;oaJTbcI -287
,; 150 151
lms}obt -302
lmso 31 32 33 34
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -358 -358 -358 -358 -358 -358 -358 -358 153 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358 -358
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
i 187
i]k 188 189 190
,=[; -125 191 192 -125
,=[; -133 194 97 -133
,=[; -10
,=[; -137 197 192 -137
lmso 31 32 33 34
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -378
,; 200 201
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -376
,; 102 202
d@flSrRm{ZMsNq}oaJTbc 5 204 6 205 206 207 208 32 56 209 210 211 11 212 108 34 13 14 213 15 16
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -114
lmi-sot -53
lmi-sot -54
: 225
lmi-sot 31 32 226 227 33 34 228
$KOdfQLRZNPaJbcI -301
lms}obt -305
lms}obt -310
; 234
i 235
t 63
dflm(soabc -70
,) 237 238
,WUV{N; 239 -148 -148 -148 -148 -148 -148
WUV{N; -150
WUV{N; -11
WUV{N; 65 66 67 -160 11 -160
i 240
dlmsoa 5 -285 -285 -285 -285 241
,[) -268 97 -268
lmseo 31 32 33 126 34
lmso 31 32 33 34
dlmseo 5 31 32 33 126 34
dfabc 5 6 13 74 16
lWUVXYm{sN;o -279
,) 252 253
XY{; -156
XY{; -13
XY{; 77 78 -164 -164
XY{; 77 78 -167 -167
XY{; 77 78 -169 -169
XY{(; 77 78 -174 40 -174
XY{; 77 78 -175 -175
XY{; 77 78 -177 -177
WUV{N; 65 66 67 -179 11 -179
WUV{N; 65 66 67 -181 11 -181
XY{; 77 78 -183 -183
XY{; 77 78 -185 -185
XY{(; 77 78 -190 40 -190
lmso 31 32 33 34
XY{(; 77 78 -198 40 -198
,; -24
j 265
$KOd@flSrQWUVLRm{ZMsNq}P;oaJTbcI -286
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -30
lmso 31 32 33 34
!hi(-+~k 154 155 267 268 160 161 164 165
&^:,<->%+?})];/*|HBEADFCG -288
,=(+});t -44 -44 270 -44 -44 -44 -44 -44
&^,<(->%+?};/*|HBEADFCG -289 -289 -289 -289 271 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289 -289
!lhmi{(-s+q}go~k 154 31 155 156 157 158 159 160 33 161 162 272 163 34 164 165
!hi(-+g~bk 154 155 267 159 160 161 163 164 276 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
,=[+})];| -246
,}); -316
!hi(-+~k 154 155 267 268 160 161 164 165
&^:,<->%+?})];/*|HBEADFCG -290
,=[+})];|t -245 -245 -245 -245 -245 -245 -245 -245 -245 282
&^:,?})];|HB 283 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79
:,?})];|HB -234 -234 -234 -234 -234 -234 -234 284 -234 -234
^:,?})];|HB 285 -77 -77 -77 -77 -77 -77 -77 -77 -77 -77
:,})]; -154
,}; -202
&^:,?})];|HBEA -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 286 287
,}); -117
,+}; -203 288 -203 -203
,}; -208
,; -138
:,?})];HB -236 -236 -236 -236 -236 -236 -236 -236 289
:,?})];H -115 -115 290 -115 -115 -115 -115 291
,+}; -204 292 -204 -204
&^:,<->%+?})];/*|HBEADFCG -362
&^:,<->%+?})];/*|HBEADFCG -355 -355 -355 -355 -355 -355 -355 293 -355 -355 -355 -355 -355 -355 294 295 -355 -355 -355 -355 -355 -355 -355 -355 -355
&^:,<>?})];|HBEADF -151 -151 -151 -151 296 297 -151 -151 -151 -151 -151 -151 -151 -151 -151 -151 298 299
&^:,<>?})];|HBEADFCG -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 -296 300 301
,}); -118
&^:,<->+?})];|HBEADFCG -313 -313 -313 -313 -313 302 -313 303 -313 -313 -313 -313 -313 -313 -313 -313 -313 -313 -313 -313 -313 -313
&^:,<->%+?})];/*|HBEADFCG -292
> 304
] 305
,=[); -368
] 306
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
ik 188 190
,=[; -9
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,=[; -127 309 192 -127
,=[; -131 310 192 -131
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,=[; -135 313 192 -135
,; -32
lmso 31 32 33 34
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -377
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -375
,; 200 315
!lmso 316 31 32 33 34
l:mZ(sqoabct 31 -43 32 318 319 33 162 34 320 321 322 323
(o 40 328
!lhmi{Z([-s+q;goa~bckt -48 -48 -48 -48 -48 -48 318 -48 -48 -48 -48 -48 -48 -48 -48 -48 320 -48 321 322 -48 323
lm(so 31 32 40 33 34
R 333
i 334
!l:hmi{Z([-s+q;goa~bckt -50 -50 -45 -50 -50 -50 -50 318 -50 -50 -50 -50 -50 -50 -50 -50 -50 320 -50 321 322 -50 323
!lhmi{Z([-s+q;goa~bckt -52 -52 -52 -52 -52 -52 318 -52 -52 -52 -52 -52 -52 -52 -52 -52 320 -52 321 322 -52 323
lmso 31 32 33 34
!lhmi{([-s+q;go~k 339 31 155 32 267 340 159 341 342 33 161 162 343 163 34 164 165
d@flSrRm{ZMsNq}oaJTbc -318
d@flSrRm{ZMsNq}oaJTbc -319
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -81
lrsq 350 207 351 212
d@flSrRm{ZMsNq}oaJTbc -320
d@flSrRm{ZMsNq}oaJTbc -321
d@flSrRm{ZMsNq}oaJTbc -322
d@flSrRm{ZMsNq}oaJTbc -353
d@flSrRm{ZMsNq}oaJTbc -323
d@flSrRm{ZMsNq}oaJTbc -324
d@flSrRm{ZMsNq}oaJTbct -232
l,ms}obt -303
i 353
l,ms+}obt -121
lm-s+}obt -120 -120 -233 -120 -120 -120 -120 -120 -120
l,ms+}obt -122 -122 -122 -122 355 -122 -122 -122 -122
lms}obt -307
- 356
l,ms}obt -309 357 -309 -309 -309 -309 -309 -309
$KOdfQLRZNPaJbcI -224
, 359
,) -8
t 63
dflm(soabc -69
i 361
$KOdf,QLRZNPaJbcI -226 -226 -226 -226 -226 362 -226 -226 -226 -226 -226 -226 -226 -226 -226 -226 -226
dlmso 5 -284 -284 -284 -284
lmso -282
,) -266
,) -267
,[) -271 97 -271
lmso 31 32 33 34
,[) -277 97 -277
,[) -256 97 -256
lmseo 31 32 33 126 34
lmso 31 32 33 34
,) -22
dfabc 5 6 13 74 16
lWUVXYm{sN;o -278
XY{; 77 78 -168 -168
XY{; 77 78 -171 -171
XY{; 77 78 -173 -173
XY{; 77 78 -176 -176
WUV{N; 65 66 67 -180 11 -180
XY{; 77 78 -184 -184
XY{; 77 78 -187 -187
XY{; 77 78 -189 -189
XY{(; 77 78 -194 40 -194
XY{; 77 78 -195 -195
XY{; 77 78 -197 -197
,; -23
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -29
&^:,<->%+?})];/*|HBEADFCG -289
!hi(-+~bk 154 155 267 268 160 161 164 276 165
&^:,<->%+?})];/*|HBEADFCG -364
lmsqo 31 32 33 162 34
!lhmi(-s+qo~k 154 31 155 156 267 268 160 33 161 162 34 164 165
,}; -211
,} 385 386
,} -142
,=+} -204 388 292 -204
) 389
) 390
) 391
&^:,<->%+?})];/*|HBEADFCG -365
&^:,<->%+?})];/*|HBEADFCG -366
&^:,<->%+?})];/*|HBEADFCG -367
,=[+})];| -244
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
,=[; -119
,=[); -140
,=[); -141
,; -124
,; -132
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,=[; -129 415 192 -129
,; -136
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,; -31
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -374
lmso 31 32 33 34
lrsq -200
!lhmi{Z([-s+q;goa~bckt -38
!lhmi{([-s+q)go~k 339 31 155 32 267 340 159 341 342 33 161 162 418 163 34 164 165
!lhmi{Z([-s+q;goa~bckt -39
!lhmi{Z([-s+q;goa~bckt -40
!lhmi{Z([-s+q;goa~bckt -41
!lhmi{Z([-s+q;goa~bckt -42
lmZ(sqoabct 31 32 318 319 33 162 34 320 321 322 323
!lhmi{Z([-s+q;goa~bckt -2
, 423
,; 424 425
XY(; 77 78 40 426
o 429
!lhmi{Z([-s+q;goa~bckt -47 -47 -47 -47 -47 -47 318 -47 -47 -47 -47 -47 -47 -47 -47 -47 320 -47 321 322 -47 323
XY(; 77 78 40 430
lmso 31 32 33 34
lm(so 31 32 40 33 34
i 436
!lhmi{Z([-s+q;goa~bckt -49 -49 -49 -49 -49 -49 318 -49 -49 -49 -49 -49 -49 -49 -49 -49 320 -49 321 322 -49 323
!lhmi{Z([-s+q;goa~bckt -51 -51 -51 -51 -51 -51 318 -51 -51 -51 -51 -51 -51 -51 -51 -51 320 -51 321 322 -51 323
,<; -361 96 -361
,; 438 439
!lhmi(-s+qo~k 154 31 155 32 267 268 160 33 161 162 34 164 165
!lhmi(-s+qgo~k 339 31 155 32 267 159 342 33 161 162 163 34 164 165
!lhmi(-s+o~k 154 31 155 32 267 268 160 33 161 34 164 165
!lhmi(-s+qo~k 154 31 155 32 267 268 160 33 161 162 34 164 165
d@flSrRm{ZMsNq}oaJTbc -214
,); -248
,}); -369
,[+);| -370 449 450 -370 -370 451
,; 452 453
,); -249
,);| -250 -250 -250 455
lmZ(sqoabct 31 32 318 319 33 162 34 320 321 322 323
!lhmi{Z([-s+q;goa~bckt -50 -50 -50 -50 -50 -50 318 -50 -50 -50 -50 -50 -50 -50 -50 -50 320 -50 321 322 -50 323
!lhmi{([-s+q;go~k 339 31 155 32 267 340 159 341 342 33 161 162 459 163 34 164 165
l,ms}obt -312
l,ms}obt -304
i- 226 227
lmso 31 32 33 34
i- 226 227
l,ms}obt -308 465 -308 -308 -308 -308 -308 -308
i 466
,) -7
,WUV{N; 467 -147 -147 -147 -147 -147 -147
i 468
lmso -283
,) -269
,) -270
,[) -274 97 -274
,) -275
,) -276
,) -254
,) -255
,[) -259 97 -259
lmso 31 32 33 34
,[) -265 97 -265
,) -21
XY{; 77 78 -172 -172
XY{; 77 78 -188 -188
XY{; 77 78 -191 -191
XY{; 77 78 -193 -193
XY{; 77 78 -196 -196
) 477
) -238
+) 478 -239
) 479
+) 480 -240
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,}; -210
,} 482 483
!lhmi(-s+qgo~k 154 31 155 156 157 159 160 33 161 162 163 34 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
&^:,<->%+?})];/*|HBEADFCG -291
,}); -317
&^:,?})];|HBEA -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 286 287
^:,?})];|HB 285 -78 -78 -78 -78 -78 -78 -78 -78 -78 -78
&^:,?})];|HB 283 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80
&^:,<>?})];|HBEADF -152 -152 -152 -152 296 297 -152 -152 -152 -152 -152 -152 -152 -152 -152 -152 298 299
&^:,<>?})];|HBEADF -153 -153 -153 -153 296 297 -153 -153 -153 -153 -153 -153 -153 -153 -153 -153 298 299
,}; -205
:,?})];|HB -235 -235 -235 -235 -235 -235 -235 284 -235 -235
: 486
:,?})];HB -237 -237 -237 -237 -237 -237 -237 -237 289
,}; -206
&^:,<->%+?})];/*|HBEADFCG -293
&^:,<->%+?})];/*|HBEADFCG -294
&^:,<->%+?})];/*|HBEADFCG -295
&^:,<>?})];|HBEADFCG -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 300 301
&^:,<>?})];|HBEADFCG -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 300 301
&^:,<>?})];|HBEADFCG -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 300 301
&^:,<>?})];|HBEADFCG -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 300 301
&^:,<->+?})];|HBEADFCG -314 -314 -314 -314 -314 302 -314 303 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314
&^:,<->+?})];|HBEADFCG -315 -315 -315 -315 -315 302 -315 303 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315
&^:,<->%+?})];/*|HBEADFCG -356 -356 -356 -356 -356 -356 -356 293 -356 -356 -356 -356 -356 -356 294 295 -356 -356 -356 -356 -356 -356 -356 -356 -356
&^:,<->%+?})];/*|HBEADFCG -357 -357 -357 -357 -357 -357 -357 293 -357 -357 -357 -357 -357 -357 294 295 -357 -357 -357 -357 -357 -357 -357 -357 -357
,; -126
,; -130
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,; -134
lrsq -201
,; -66
,) 452 488
!lhmi{Z([-s+q;goa~bckt -1
, 490
,; 491 492
lmsqo 31 32 33 162 34
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -113
d@flSrRm{ZMsNq}oaJTbc -332
XY; 77 78 496
XY; 77 78 497
XY(; 77 78 40 499
d@flSrRm{ZMsNq}oaJTbc -340
XY; 77 78 502
XY; 77 78 503
XY(; 77 78 40 505
XY(; 77 78 40 508
lmso 31 32 33 34
i 512
,; -360
lmso 31 32 33 34
d@flSrRm{ZMsNq}oaJTbc -336
,; 514 515
,}); -372
,+} -370 450 -370
,} 516 517
,-+] -281
,] 519 520
,] -71
,-+] -72 522 523 -72
,}); -373
!lhmi(-s+qo~k 154 31 155 32 267 268 160 33 161 162 34 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
lmsqo 31 32 33 162 34
!lhmi{([-s+qgo~k 339 31 155 32 267 340 159 341 342 33 161 162 163 34 164 165
d@flSrRm{ZMsNq}oaJTbc -213
,; 530 531
lmsqo 31 32 33 162 34
lmZ(sqoabct 31 32 318 319 33 162 34 320 321 322 323
, 535
,; 536 537
d@flSrRm{ZMsNq}oaJTbc -217
,; 452 538
l,ms}obt -123
lms}obt -233
lms}obt -306
l,ms}obt -26
i- 226 227
) 541
i 542
$KOdfQLRZNPaJbcI -225
,) -272
,) -273
,) -257
,) -258
,[) -262 97 -262
,) -263
,) -264
XY{; 77 78 -192 -192
,+}); -199
!hi(-+~k 154 155 267 268 160 161 164 165
,}; -207
!hi(-+~k 154 155 267 268 160 161 164 165
,} -16
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165
,}; -209
,} -143
&^:,<->%+?})];/*|HBEADFCG -363
!hi(-+~k 154 155 267 268 160 161 164 165
,; -128
,; -65
,) 530 549
lmsqo 31 32 33 162 34
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -105
,; 553 554
,; 555 556
; 557
d@flSrRm{ZMsNq}oaJTbc -329
d@flSrRm{ZMsNq}oaJTbc -331
XY; 77 78 558
d@flSrRm{ZMsNq}oaJTbc -328
XY; 77 78 559
XY; 77 78 560
d@flSrRm{ZMsNq}oaJTbc -337
d@flSrRm{ZMsNq}oaJTbc -339
XY; 77 78 562
d@flSrRm{ZMsNq}oaJTbc -344
XY; 77 78 563
XY; 77 78 564
d@flSrRm{ZMsNq}oaJTbc -348
XY; 77 78 566
XY; 77 78 567
XY(; 77 78 40 569
d@flS,rRm{ZMsNq}oaJTbc -334 -334 -334 -334 -334 572 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334 -334
,; -28
lmso 31 32 33 34
d@flSrRm{ZMsNq}oaJTbc -335
!lhmi(-s+qgo~k 339 31 155 32 267 159 342 33 161 162 163 34 164 165
,)];| -381
,} 576 577
lm{sqo 31 32 340 33 162 34
,);t -62 -62 -62 580
,] 581 582
!hi(-+~k 154 155 267 268 160 161 164 165
!hi(-+~k 154 155 267 268 160 161 164 165
] 585
] -35
] -36
,}); -371
,); -252
,); -18
!lhmi{([-s+qgo~k 339 31 155 32 267 340 159 341 342 33 161 162 163 34 164 165
d@flSrRm{ZMsNq}oaJTbc -212
,); -253
, 587
,; 588 589
lmsqo 31 32 33 162 34
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -97
d@flSrRm{ZMsNq}oaJTbc -216
,; 530 593
l,ms}obt -25
,) -67
WUV{N; -146
,) -260
,) -261
) -241
) -242
,} -15
:,})]; -116
,; -64
,; 594 595
,; 596 597
; 598
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -109
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -111
d@flSrRm{ZMsNq}oaJTbc -112
d@flSrRm{ZMsNq}oaJTbc -330
d@flSrRm{ZMsNq}oaJTbc -325
d@flSrRm{ZMsNq}oaJTbc -327
XY; 77 78 602
d@flSrRm{ZMsNq}oaJTbc -338
d@flSrRm{ZMsNq}oaJTbc -341
d@flSrRm{ZMsNq}oaJTbc -343
XY; 77 78 603
d@flSrRm{ZMsNq}oaJTbc -345
d@flSrRm{ZMsNq}oaJTbc -347
XY; 77 78 604
d@flSrRm{ZMsNq}oaJTbc -352
XY; 77 78 605
XY; 77 78 606
n 608
d@flSrRm{ZMsNq}oaJTbc -333
,; -27
,} -34
!lhmi(-s+qgo~k 339 31 155 32 267 159 342 33 161 162 163 34 164 165
,)];| -380
,] -5
,] -6
,); -61
lm{sqo 31 32 340 33 162 34
,);t -60 -60 -60 612
,] -73
,] -74
,); -251
,); -17
lmsqo 31 32 33 162 34
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -89
,; 616 617
,; 618 619
; 620
d@flSrRm{ZMsNq}oaJTbc -215
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -101
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -103
d@flSrRm{ZMsNq}oaJTbc -104
,; 624 625
; 626
; 627
d@flSrRm{ZMsNq}oaJTbc -326
d@flSrRm{ZMsNq}oaJTbc -342
d@flSrRm{ZMsNq}oaJTbc -346
d@flSrRm{ZMsNq}oaJTbc -349
d@flSrRm{ZMsNq}oaJTbc -351
XY; 77 78 628
lmsot 31 32 33 34 228
,} -33
,] -3
,] -4
,); -59
,; 631 632
,; 633 634
; 635
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -93
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -95
d@flSrRm{ZMsNq}oaJTbc -96
,; 639 640
; 641
; 642
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -107
d@flSrRm{ZMsNq}oaJTbc -108
d@flSrRm{ZMsNq}oaJTbc -110
d@flSrRm{ZMsNq}oaJTbc -350
,+ -120
, 644
lm(sqo 31 32 319 33 162 34
d@flSrRm{ZMsNq}oaJTbc -85
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -87
d@flSrRm{ZMsNq}oaJTbc -88
,; 648 649
; 650
; 651
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -99
d@flSrRm{ZMsNq}oaJTbc -100
d@flSrRm{ZMsNq}oaJTbc -102
; 653
p 654
,; 655 656
; 657
; 658
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -91
d@flSrRm{ZMsNq}oaJTbc -92
d@flSrRm{ZMsNq}oaJTbc -94
; 660
d@flSrRm{ZMsNq}oaJTbc -106
i 661
lmsqo 31 32 33 162 34
d@flSrRm{ZMsNq}oaJTbc -83
d@flSrRm{ZMsNq}oaJTbc -84
d@flSrRm{ZMsNq}oaJTbc -86
; 663
d@flSrRm{ZMsNq}oaJTbc -98
i 664
; 665
d@flSrRm{ZMsNq}oaJTbc -90
i 666
d@flSrRm{ZMsNq}oaJTbc -82
d@flSrRm{ZMsNq}oaJTbc -37"""

# A state a line: rules, each with the next state.
GOTOS = """\
items:1 module:2
__parameter_star_5:18 _specifier:19 alignment:20 attributes:21 function:22 function_header:23 item:24 pragma:25 section:26 section_header:27 target:28 variable:29


_name:35


_name:38

_name:41 attributes:42 parameters:43
__parameter_star_5:18 _specifier:19 alignment:20 attributes:21 variable:46



_name:49
_name:51 declarator:52


_specifier:55 alignment:20 attributes:21




body:58 end:59 open:60



section_lines:61









attribute:64
__function_header_star_2:68 entry_directive:69 parameters:70 pragma:71

__parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:76
__function_header_star_3:79 func_directive:80 parameters:81
_name:82 parameters:83
_name:84
_name:85
_name:86 attributes:87 parameters:88

__pragma_star_1:91

__target_star_0:94

__declarator_star_9:98 count:99 dimension:100 unsized:101
__variable_star_7:104

_name:51 declarator:106





statements:107
_name:111 _section_type:112 close:113 label:114 section_line:115
_name:116

__attributes_star_8:120



entry_directive:123 pragma:71

__function_header_star_2:124 entry_directive:69 pragma:71



_name:127 alignment:128 pointer:129
_specifier:55 alignment:20 attributes:21
__parameters_star_4:133


func_directive:135

__function_header_star_3:136 func_directive:80
__function_header_star_3:137 func_directive:80 parameters:138
_name:139
__function_header_star_3:140 func_directive:80 parameters:141
__function_header_star_2:142 entry_directive:69 parameters:143 pragma:71
__function_header_star_3:144 func_directive:80 parameters:145
_name:146 parameters:147
_name:148




_name:152

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:176 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


dimension:193
__declarator_star_9:195 dimension:100 unsized:196

__declarator_star_9:198 dimension:100
_name:51 declarator:199



__variable_star_7:203
__parameter_star_5:18 _name:111 _opcode:214 _specifier:19 alignment:20 attributes:21 body:215 call:216 close:217 guard:218 instruction:219 label:220 open:60 pragma:221 statement:222 target:223 variable:224




_name:229 debug_name:230 debug_symbol:231 label_name:232 section_integer:233





attribute:236





entry_directive:123 pragma:71

alignment:242
dimension:243 unsized:244
_name:245 pointer:246
_name:247
_name:248 alignment:249 pointer:250
__parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:251




func_directive:135
func_directive:135
__function_header_star_3:254 func_directive:80
__function_header_star_3:255 func_directive:80 parameters:256
func_directive:135
__function_header_star_3:257 func_directive:80
entry_directive:123 pragma:71
__function_header_star_2:258 entry_directive:69 pragma:71
func_directive:135
__function_header_star_3:259 func_directive:80
__function_header_star_3:260 func_directive:80 parameters:261
_name:262
__function_header_star_3:263 func_directive:80 parameters:264




_name:266
primary:180 unary:269



_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:273 equality:172 expression:173 generic:174 initial_value:175 initializer:274 logical_and:177 logical_or:178 name:275 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:277 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 single:278 sum:185 unary:186
primary:180 unary:279
primary:180 unary:280


primary:180 unary:281


























_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:307 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:308 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
dimension:193
__declarator_star_9:311 dimension:100
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:312 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
dimension:193

_name:51 declarator:314



_name:317
___opcode_star_13:324 _modifier:325 _name:166 arguments:326 name:327
parameters:329
___opcode_star_13:330 _modifier:325
_name:331 parameters:332


___opcode_star_13:335 _modifier:325
___opcode_star_13:336 _modifier:325
_name:337 target_label:338
_name:166 address:344 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:346 operand:347 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:348 vector:349



_opcode:352








section_literal:354





__section_line_star_11:358



attribute:360



alignment:363



dimension:364 unsized:365
_name:366
dimension:367 unsized:368
dimension:369 unsized:370
_name:371 pointer:372
_name:373

__parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:374

func_directive:135
func_directive:135
__function_header_star_3:375 func_directive:80
func_directive:135
entry_directive:123 pragma:71
func_directive:135
func_directive:135
__function_header_star_3:376 func_directive:80
__function_header_star_3:377 func_directive:80 parameters:378
func_directive:135
__function_header_star_3:379 func_directive:80



bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:277 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

_name:166 name:380
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:381 generic:382 logical_and:177 logical_or:178 masked:383 name:384 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

__initializer_star_10:387









equality:392 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_xor:393 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:394 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
primary:180 product:181 relation:395 shift:183 sum:185 unary:186
primary:180 product:181 relation:396 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:397 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:398 bit_xor:169 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:399 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 equality:172 logical_and:400 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:401 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
primary:180 unary:402
primary:180 unary:403
primary:180 unary:404
primary:180 product:181 shift:405 sum:185 unary:186
primary:180 product:181 shift:406 sum:185 unary:186
primary:180 product:181 shift:407 sum:185 unary:186
primary:180 product:181 shift:408 sum:185 unary:186
primary:180 product:181 sum:409 unary:186
primary:180 product:181 sum:410 unary:186
primary:180 product:411 unary:186
primary:180 product:412 unary:186





_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:413 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:414 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
dimension:193

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:416 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


_name:417


_name:166 address:344 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:346 operand:419 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:348 vector:349




_modifier:420 _name:166 arguments:421 name:422



__function_header_star_3:427 func_directive:80 parameters:428

_modifier:420
__function_header_star_3:431 func_directive:80 parameters:432
_name:433
_name:434 parameters:435

_modifier:420
_modifier:420
count:437
__statement_star_6:440
_name:166 name:441 primary:180 unary:269
_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:442 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:443
_name:444 base:445 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:446 logical_and:177 logical_or:178 plain_name:447 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
_name:166 name:448 primary:180 unary:279




__instruction_star_12:454


___opcode_star_13:456 _modifier:325 _name:166 arguments:457 name:458
___opcode_star_13:335 _modifier:325
_name:166 address:344 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:346 operand:460 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:348 vector:349


section_integer:461
_name:462 label_name:463
section_integer:464








dimension:469 unsized:470




dimension:471 unsized:472
_name:473
dimension:474 unsized:475

func_directive:135
func_directive:135
func_directive:135
__function_header_star_3:476 func_directive:80
func_directive:135





_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:481 equality:172 expression:173 generic:174 initial_value:175 initializer:274 logical_and:177 logical_or:178 name:275 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186


_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:484 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
primary:180 unary:485

























_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:487 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186



__instruction_star_12:489



_name:166 name:493
_name:166 arguments:494 name:495


func_directive:135
__function_header_star_3:498 func_directive:80
__function_header_star_3:500 func_directive:80 parameters:501

func_directive:135
__function_header_star_3:504 func_directive:80
__function_header_star_3:506 func_directive:80 parameters:507
__function_header_star_3:509 func_directive:80 parameters:510
_name:511


_name:337 target_label:513




__vector_star_14:518

__address_star_15:521



_index:524 _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:525 logical_and:177 logical_or:178 name:526 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:527 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
_name:166 name:528
_name:166 address:344 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:346 operand:529 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:348 vector:349


_name:166 name:532
_modifier:420 _name:166 arguments:533 name:534



__instruction_star_12:539




section_integer:540







dimension:543 unsized:544


func_directive:135

bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:545 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:546 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:547 equality:172 expression:173 generic:174 initial_value:175 initializer:274 logical_and:177 logical_or:178 name:275 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186



bit_and:167 bit_or:168 bit_xor:169 conditional:548 equality:172 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186



_name:166 name:550
_name:166 arguments:551 name:552






func_directive:135

func_directive:135
__function_header_star_3:561 func_directive:80


func_directive:135

func_directive:135
__function_header_star_3:565 func_directive:80

func_directive:135
__function_header_star_3:568 func_directive:80
__function_header_star_3:570 func_directive:80 parameters:571
_inlined:573

_name:337 target_label:574

_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:442 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:575


_name:166 name:578 vector:579


bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:583 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:584 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186






_name:166 address:344 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:346 operand:586 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:348 vector:349




_name:166 name:590
_name:166 arguments:591 name:592
















_name:166 arguments:599 name:600

_name:166 name:601





func_directive:135



func_directive:135


func_directive:135

func_directive:135
__function_header_star_3:607 func_directive:80




_name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:345 equality:172 expression:173 logical_and:177 logical_or:178 name:442 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:609




_name:166 name:610 vector:611





_name:166 name:613
_name:166 arguments:614 name:615





_name:166 arguments:621 name:622

_name:166 name:623










func_directive:135
_name:629 debug_name:230 debug_symbol:630







_name:166 arguments:636 name:637

_name:166 name:638





_name:166 name:643






_name:166 arguments:645 name:646

_name:166 name:647





_name:166 name:652








_name:166 name:659






_name:166 name:662










"""
